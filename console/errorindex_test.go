package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/errtest"
)

// indexReport indexes a report that is written in pieces of several lengths.
func indexReport(t *testing.T, text []byte) *ErrorIndex {
	t.Helper()
	file := errtest.Must(os.Create(filepath.Join(t.TempDir(), "report")))(t)
	x := NewErrorIndexer(file)
	for size := 1; len(text) > 0; size = size*3 + 1 {
		n := min(size, len(text))
		errtest.Fatal(t, errtest.Of(x.Write(text[:n])))
		text = text[n:]
	}
	index := errtest.Must(x.Finish())(t)
	t.Cleanup(func() { _ = index.Close() })
	return index
}

// randomReport writes a report of some lines, the last ones in the short form, and returns its errors.
func randomReport(lines int) (text []byte, all []LineError) {
	r := rand.New(rand.NewPCG(1, 2))
	codes := []transaction.Code{"missing", "enum", "uuid", "bic", "json_invalid"}
	fields := []string{"", "/sender", `/additional_fields/a"type":"b`, "/sender/ключ", `/x/,"type":"enum"`, "/a<b>&"}
	for i := range lines {
		l := report.Line{Number: int64(3*i + 1), TransactionExternalID: []byte(fmt.Sprintf("tx\"%d", i))}
		for j := range 1 + r.IntN(5) {
			e := report.Error{Code: codes[r.IntN(len(codes))], Pointer: fields[r.IntN(len(fields))],
				Message: `it is ,"type":"uuid" {` + strings.Repeat("x", r.IntN(300)), Offset: int64(100*i + j)}
			if e.Code == "bic" {
				e.Pointer = fmt.Sprintf("/own/%d", r.IntN(2*maxIndexedFields))
			}
			l.Errors = append(l.Errors, e)
		}
		isShort := i >= lines*3/4
		if isShort {
			text = l.AppendShortTo(text)
		} else {
			text = l.AppendTo(text)
		}
		seen := map[transaction.Code]bool{}
		for _, e := range l.Errors {
			id := string(l.TransactionExternalID)
			le := LineError{Line: l.Number, Entry: int64(i), TransactionExternalID: &id, Code: string(e.Code)}
			if isShort && seen[e.Code] {
				continue
			}
			if seen[e.Code] = true; !isShort {
				le.Field, le.Message, le.Offset = e.Pointer, e.Message, &e.Offset
			}
			le.Reason, le.Hint = explainCode(le.Code)
			all = append(all, le)
		}
	}
	return text, all
}

// Every query gives, over its pages, exactly the errors that a scan of the whole report gives.
func TestErrorIndexPages(t *testing.T) {
	text, all := randomReport(1200)
	x := indexReport(t, text)
	if x.Total() != int64(len(all)) || len(x.blocks) < 3 {
		t.Fatalf("%d errors in %d blocks, want %d in several", x.Total(), len(x.blocks), len(all))
	}
	last := all[len(all)-1].Line
	for _, query := range []string{
		"", "code=missing", "code=uuid&line=1500", "field=", "field=/sender", "code=bic&field=/own/7",
		"field=/own/1999",
		"field=/sender/ключ", "code=enum&field=" + url.QueryEscape(`/x/,"type":"enum"`),
		"field=" + url.QueryEscape("/a<b>&"),
		"field=" + url.QueryEscape(`/additional_fields/a"type":"b`), "line=2", fmt.Sprint("line=", last),
		fmt.Sprint("line=", last+1), "code=none", "code=bic",
	} {
		values := errtest.Must(url.ParseQuery(query + "&limit=500"))(t)
		q := errtest.Must(ParseErrorQuery(values))(t)
		want := []LineError{}
		for _, e := range all {
			if (q.Code == "" || q.Code == e.Code) && (!values.Has("field") || q.Field == e.Field) && e.Line >= q.Line {
				want = append(want, e)
			}
		}
		got := []LineError{}
		for {
			page, err := x.Page(t.Context(), q, nil)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			if page.Total != int64(len(want)) {
				t.Fatalf("%s: the total is %d, want %d", query, page.Total, len(want))
			}
			got = append(got, page.Errors...)
			if page.Next == nil {
				break
			}
			q.Offset = *page.Next
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %d errors, want %d, or others", query, len(got), len(want))
		}
	}
}

func TestErrorQueriesOutOfRange(t *testing.T) {
	t.Parallel()
	x := indexReport(t, nil)
	page, err := x.Page(t.Context(), ErrorQuery{Limit: 10}, nil)
	if text, _ := json.Marshal(page); err != nil || string(text) != `{"errors":[],"total":0,"next":null}` {
		t.Errorf("an empty report: %s, %v", text, err)
	}
	for _, query := range []string{"limit=501", "limit=-1", "offset=x", "line=1.5", "line=9999999999999999999"} {
		values, _ := url.ParseQuery(query)
		errtest.Fails(t, query+" is accepted", errtest.Of(ParseErrorQuery(values)))
	}
}

// What is not a report, or breaks off, is an error and not an index.
func TestReportsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"<html>\n", `{"line":x,` + "\n", `{"line":1,"errors":[]`,
		string(bytes.Repeat([]byte("x"), maxEntryBytes+1))} {
		file, err := os.Create(filepath.Join(t.TempDir(), "report"))
		errtest.Fatal(t, err)
		x := NewErrorIndexer(file)
		_, err = x.Write([]byte(text))
		if err == nil {
			_, err = x.Finish()
		}
		errtest.Fails(t, fmt.Sprintf("%.20q is accepted", text), err)
		_ = file.Close()
	}
}
