"""Where tools come from: one file a kind of source, each giving the routes of one source."""
