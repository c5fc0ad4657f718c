// Writes the result of the query on standard input to a file, one JSON object a row: node query.cjs BINDING FILE. It calls
// the binding itself, because the packages above it ask for those of all systems.
const { readFileSync } = require("node:fs");
const [binding, file] = process.argv.slice(2);
const duckdb = require(binding);

(async () => {
  const connection = await duckdb.connect(await duckdb.open(":memory:"));
  await duckdb.query(connection, "SET TimeZone = 'UTC'");
  await duckdb.query(connection, `COPY (${readFileSync(0, "utf8")}) TO '${file}' (FORMAT json)`);
})();
