"""Who answers: judges, and what stands around them. Importing this loads no backend."""
