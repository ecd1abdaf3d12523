"""The tables of an index. A change here raises ``VERSION``: an index is a cache and is made anew, never migrated."""

VERSION = 4
# Tells an index from the databases of other applications.
APPLICATION_ID = 0x53594E41

# Positions are kept in all three column units, so that a place can be told to any client without reading the file.
_PLACE = """
  start_line INTEGER NOT NULL, start_utf32 INTEGER NOT NULL, start_utf16 INTEGER NOT NULL, start_utf8 INTEGER NOT NULL,
  end_line INTEGER NOT NULL, end_utf32 INTEGER NOT NULL, end_utf16 INTEGER NOT NULL, end_utf8 INTEGER NOT NULL
"""

TABLES = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;

CREATE TABLE notes(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, hash BLOB NOT NULL,
  properties TEXT NOT NULL, problem TEXT
);
CREATE INDEX notes_recent ON notes(mtime_ns);

-- Files that could not be read at all; unreadable text is kept in notes.problem.
CREATE TABLE skipped(path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;

-- How links call a note.
CREATE TABLE names(key TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, note INTEGER NOT NULL);
CREATE INDEX names_key ON names(key);
CREATE INDEX names_note ON names(note);

-- What workspace symbols are made of: note, alias, heading, tag.
CREATE TABLE symbols(
  kind TEXT NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL, note INTEGER NOT NULL, heading INTEGER
);
CREATE INDEX symbols_folded ON symbols(folded);
CREATE INDEX symbols_note ON symbols(note);

CREATE TABLE headings(
  note INTEGER NOT NULL, ordinal INTEGER NOT NULL, level INTEGER NOT NULL, text TEXT NOT NULL, slug TEXT NOT NULL,
  section_start INTEGER NOT NULL, section_end INTEGER NOT NULL, {_PLACE},
  PRIMARY KEY(note, ordinal)
) WITHOUT ROWID;

CREATE TABLE blocks(note INTEGER NOT NULL, id TEXT NOT NULL, {_PLACE}, PRIMARY KEY(note, id)) WITHOUT ROWID;

CREATE TABLE tags(note INTEGER NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL);
CREATE INDEX tags_note ON tags(note);
CREATE INDEX tags_folded ON tags(folded);

-- Files that are no notes and may be linked; their content is never read.
CREATE TABLE attachments(path TEXT PRIMARY KEY, key TEXT NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX attachments_key ON attachments(key);

-- resolved is the note that the link means, attachment the path of the file; ambiguous if others fit as well but for
-- their place. other_key is that of a second reading of the link.
CREATE TABLE links(
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, fragment TEXT, label TEXT,
  key TEXT NOT NULL, other_key TEXT, resolved INTEGER, attachment TEXT, ambiguous INTEGER NOT NULL DEFAULT 0, {_PLACE}
);
CREATE INDEX links_other ON links(other_key) WHERE other_key IS NOT NULL;
CREATE INDEX links_attachment ON links(attachment) WHERE attachment IS NOT NULL;
CREATE INDEX links_source ON links(source);
CREATE INDEX links_key ON links(key);
CREATE INDEX links_resolved ON links(resolved) WHERE resolved IS NOT NULL;

-- The labels of the links that mean a note, folded and cut as the terms of chunks; rows are keyed by note.
CREATE VIRTUAL TABLE anchors USING fts5(
  labels, content='', contentless_delete=1, tokenize="ascii tokenchars '+#.'", prefix='2 3'
);
-- Notes whose labels may have changed.
CREATE TABLE anchors_due(note INTEGER PRIMARY KEY);
CREATE TRIGGER links_gone AFTER DELETE ON links WHEN old.label IS NOT NULL AND old.resolved IS NOT NULL
BEGIN INSERT OR IGNORE INTO anchors_due VALUES(old.resolved); END;
CREATE TRIGGER links_meant AFTER UPDATE OF resolved ON links WHEN new.label IS NOT NULL
BEGIN INSERT OR IGNORE INTO anchors_due SELECT note FROM (SELECT old.resolved AS note UNION SELECT new.resolved)
WHERE note IS NOT NULL; END;
CREATE TRIGGER notes_gone AFTER DELETE ON notes
BEGIN INSERT OR IGNORE INTO anchors_due VALUES(old.id); END;
CREATE TRIGGER notes_called AFTER UPDATE OF title ON notes
BEGIN INSERT OR IGNORE INTO anchors_due VALUES(old.id); END;

-- A chunk waits for the embedder while vector is null or stale = 1 (its old vector answers meanwhile).
CREATE TABLE chunks(
  id INTEGER PRIMARY KEY, note INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  span_start INTEGER NOT NULL, span_end INTEGER NOT NULL, {_PLACE},
  heading_path TEXT NOT NULL, text TEXT NOT NULL, key BLOB NOT NULL, input_key BLOB NOT NULL,
  readable INTEGER NOT NULL, vector INTEGER, stale INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX chunks_note ON chunks(note, ordinal);
CREATE INDEX chunks_vector ON chunks(vector) WHERE vector IS NOT NULL;
CREATE INDEX chunks_pending ON chunks(note) WHERE readable = 1 AND failed = 0 AND (vector IS NULL OR stale = 1);
CREATE INDEX chunks_input ON chunks(input_key) WHERE readable = 1 AND (vector IS NULL OR stale = 1);

-- Rows are keyed by chunk. The terms come folded and cut (core.terms); the tokenizer only splits at spaces.
CREATE VIRTUAL TABLE terms USING fts5(
  title, aliases, headings, body, tags,
  content='', contentless_delete=1, tokenize="ascii tokenchars '+#.'", prefix='2 3'
);

-- A vector is named by its input and its model; many chunks may share one.
CREATE TABLE vectors(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE);
-- The signs of the vectors of a text's tokens, one after the other, by vectors.id.
CREATE TABLE token_signs(vector INTEGER PRIMARY KEY, signs BLOB NOT NULL);
CREATE TABLE parked(
  key BLOB PRIMARY KEY, embedding BLOB NOT NULL, signs BLOB NOT NULL, parked_at INTEGER NOT NULL
) WITHOUT ROWID;
"""

# The live vectors, keyed by vectors.id; made when the model's dimensions are known.
VECTOR_TABLE = "CREATE VIRTUAL TABLE embeddings USING vec0(embedding float[{dimensions}] distance_metric=cosine)"
