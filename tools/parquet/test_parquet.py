"""Reads Parquet files of two versions with pyarrow and DuckDB, as docs/parquet.md says; make test-parquet has made them."""

import datetime
import decimal
import json
import pathlib
import unittest

import duckdb
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "bin" / "parquet"
FILES = [FOLDER / "version-1.parquet", FOLDER / "next.parquet"]


def without_nulls(value):
    """Returns what a line says: pyarrow has a member for each column, and a map as pairs."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None and not k.endswith("_decimal")}
    if isinstance(value, list):
        if value and all(isinstance(v, tuple) for v in value):
            return dict(value)
        return [without_nulls(v) for v in value]
    return value


def compare(test, sent, read, where):
    """Compares a value of a line as it was sent with that of its column."""
    if isinstance(sent, dict):
        if read == []:  # a map without members
            read = {}
        for name, value in sent.items():
            if name in ("more",):  # a field that the schema does not have
                continue
            if value is None:
                test.assertNotIn(name, read, where)
                continue
            compare(test, value, read[name], f"{where}/{name}")
        test.assertLessEqual(set(read), set(sent), where)
    elif isinstance(sent, list):
        test.assertEqual(len(sent), len(read), where)
        for i, value in enumerate(sent):
            compare(test, value, read[i], f"{where}/{i}")
    elif isinstance(read, datetime.datetime):
        # fromisoformat reads no more than microseconds, and takes what has no offset as local.
        at = datetime.datetime.fromisoformat(sent[:26].rstrip("Z") if len(sent) > 26 and sent[19] == "." else sent.replace("Z", "+00:00"))
        offset = sent[29:] if len(sent) > 29 and sent[19] == "." else ""
        if at.tzinfo is None:
            at = at.replace(tzinfo=datetime.timezone.utc)
        if offset not in ("", "Z"):
            hours, minutes = int(offset[1:3]), int(offset[4:6])
            at -= (1 if offset[0] == "+" else -1) * datetime.timedelta(hours=hours, minutes=minutes)
        test.assertEqual(at, read, where)
    else:
        test.assertEqual(sent, read, where)


class Parquet(unittest.TestCase):
    def test_pyarrow_reads_what_was_sent(self):
        table = pq.read_table(FILES[0])
        table = table.set_column(
            table.schema.get_field_index("modification"), "modification",
            # Python has no years before 1.
            pa.array([{**m, "settled_at": None} for m in self.modifications(table)], table.schema.field("modification").type))
        self.assertEqual(table.schema.metadata[b"sluice.schema_version"], b"1")
        rows = table.to_pylist()
        self.assertEqual(len(rows), 3)
        for row in rows:
            # Numbers are text as they were sent, but for whole numbers of a range.
            sent = json.loads(row.pop("raw_line"), parse_float=str, parse_int=str)
            sent["modification"].pop("settled_at", None)
            for party in (sent.get("sender_payment_info"), sent["sender"].get("unknown", {}).get("addresses", [{}])[0]):
                for name in ("id", "card_number"):
                    if party and name in party:
                        party[name] = int(party[name])
            for column in ("batch_id", "line", "received_at", "main_entity"):
                self.assertIsNotNone(row.pop(column))
            compare(self, sent, without_nulls(row), "")

    @staticmethod
    def modifications(table):
        kept = table.column("modification").combine_chunks()
        names = [f.name for f in kept.type if f.name != "settled_at"]
        return [dict(zip(names, values)) for values in zip(*(kept.field(n).to_pylist() for n in names))]

    def test_pyarrow_types(self):
        schema = pq.read_schema(FILES[0])
        utc = pa.timestamp("us", "UTC")
        self.assertEqual(schema.field("received_at").type, utc)
        self.assertEqual(schema.field("additional_fields").type, pa.map_(pa.string(), pa.string()))
        modification = {f.name: f.type for f in schema.field("modification").type}
        self.assertEqual(modification["amount"], pa.string())
        self.assertEqual(modification["amount_decimal"], pa.decimal128(38, 18))
        self.assertEqual(modification["created_at"], utc)

    def test_pyarrow_reads_two_versions(self):
        schema = pa.unify_schemas([pq.read_schema(f) for f in FILES], promote_options="permissive")
        table = pa.dataset.dataset(FILES, schema=schema).to_table(columns=["line", "channel", "transaction_external_id", "sender"])
        got = [(r["line"], r["channel"], r["transaction_external_id"], ((r["sender"]["unknown"] or {}).get("addresses") or [{}])[0].get("district"))
               for r in table.to_pylist()]
        self.assertEqual(got, [(1, None, "tx-20251125-0042-1", None), (2, None, "t2", None), (3, None, "t3", None),
                               (1, None, "t3", "D"), (2, "web", "t2", None)])

    def test_duckdb_reads_two_versions(self):
        rows = duckdb.sql(
            f"""SELECT line, channel, modification.amount_decimal, modification.created_at
            FROM read_parquet({[str(f) for f in FILES]}, union_by_name = true)
            WHERE transaction_external_id IN ('t2', 'tx-20251125-0042-1') ORDER BY transaction_external_id, line, channel""").fetchall()
        utc = datetime.timezone.utc
        at = datetime.datetime(2026, 11, 26, 8, 15, tzinfo=utc)
        self.assertEqual([(r[0], r[1], r[2], r[3].astimezone(utc)) for r in rows], [
            (2, "web", decimal.Decimal(0), at), (2, None, decimal.Decimal(0), at),
            (1, None, decimal.Decimal("48.90"), datetime.datetime(2025, 11, 25, 14, 3, 21, 512000, tzinfo=utc))])


if __name__ == "__main__":
    unittest.main()
