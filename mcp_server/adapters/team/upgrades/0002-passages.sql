-- Passages: the parts of a memory that are embedded, and of which the best is shown. Vectors have a table of
-- their own, made when there is an embedder, because it takes the extension pgvector and a number of dimensions.

CREATE TABLE daybook.passages (
    row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    memory bigint NOT NULL REFERENCES daybook.memories (row),
    position integer NOT NULL,
    text text NOT NULL,
    length integer NOT NULL,                -- words
    lexemes tsvector                        -- NULL where it is the only passage: it is found by its memory's
);
CREATE INDEX passages_of_memory ON daybook.passages (memory, position);

-- Passages that wait for a vector; a server that embeds some claims them for a while.
CREATE TABLE daybook.unembedded (
    passage bigint PRIMARY KEY REFERENCES daybook.passages (row) ON DELETE CASCADE,
    claimed_at timestamptz
);

ALTER TABLE daybook.unembedded ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON daybook.passages TO daybook_reader;

-- Without a list of what is to be put into it later, which every search would have to read as well.
ALTER INDEX daybook.searched_words SET (fastupdate = off);
-- Which words are common is known by what ANALYZE counts: 10,000 words instead of 1,000, so that of a million
-- memories each word that more than a few hundred have is known.
ALTER TABLE daybook.searched ALTER COLUMN lexemes SET STATISTICS 1000;
-- A vector of words stays in its row as it is: it is read for thousands of memories in one search.
ALTER TABLE daybook.searched ALTER COLUMN lexemes SET STORAGE EXTERNAL;
ALTER TABLE daybook.searched SET (toast_tuple_target = 8000, autovacuum_analyze_scale_factor = 0.05);
