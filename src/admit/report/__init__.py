"""What is told to people: the audit of recorded sessions, the reports over the record, and the page."""
