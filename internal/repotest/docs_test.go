package repotest

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// Every code that a line can have is explained in docs/errors.md.
func TestLineCodesAreDocumented(t *testing.T) {
	doc := string(readFile(t, "docs/errors.md"))
	found := 0
	for _, p := range modulePackages(t) {
		if !strings.HasPrefix(folderOf(p), "shared/") {
			continue
		}
		for _, code := range stringConstantsOfType(p, "Code") {
			found++
			checkExplained(t, doc, code)
		}
	}
	if found < 20 {
		t.Errorf("found %d codes of lines, want at least 20: has the type Code been renamed?", found)
	}
}

// Every errorCode that a platform endpoint can answer with is explained in docs/errors.md. It is recognised as a
// constant passed to a parameter named code, of fault.New or of whatever adds a validation error.
func TestPlatformCodesAreDocumented(t *testing.T) {
	doc := string(readFile(t, "docs/errors.md"))
	found := map[string]bool{}
	for _, p := range modulePackages(t) {
		if !strings.HasPrefix(folderOf(p), "shared/") || !answersPlatformCalls(folderOf(p)) {
			continue
		}
		uncoded := codesOfUncodedKinds(p)
		for _, code := range stringsPassedAs(p, "code") {
			if code != "" && !slices.Contains(uncoded, code) && platformNeverSends[code] == "" && !found[code] {
				found[code] = true
				checkExplained(t, doc, code)
			}
		}
	}
	if len(found) < 15 {
		t.Errorf("found %d codes, want at least 15: has the parameter code been renamed?", len(found))
	}
}

// Every code of a request that the monitoring interface refuses is explained in docs/errors.md. Those of the kinds that
// its table explains by their status are in no reply.
func TestMonitoringCodesAreDocumented(t *testing.T) {
	doc := string(readFile(t, "docs/errors.md"))
	found := map[string]bool{}
	for _, p := range modulePackages(t) {
		folder := folderOf(p)
		if folder != "shared/ingest/batch/batchhttp" && folder != "shared/ingest/transaction/transactionhttp" &&
			folder != "shared/connect/webhook/webhookhttp" {
			continue
		}
		for _, code := range stringsPassedAs(p, "code") {
			if code != "" && monitoringByStatus[code] == "" && !found[code] {
				found[code] = true
				checkExplained(t, doc, code)
			}
		}
	}
	if len(found) < 30 {
		t.Errorf("found %d codes, want at least 30: has the parameter code been renamed?", len(found))
	}
}

// monitoringByStatus are codes of faults that the audit trail has and no reply, and the row that explains them.
var monitoringByStatus = map[string]string{
	"batch_not_found":       "404",
	"transaction_not_found": "404",
	"transaction_conflict":  "409 (single transaction)",
	"foreign_tenant":        "404",
}

// answersPlatformCalls reports whether the codes of a package reach clients of the platform interface. The monitoring
// interface and the token endpoint answer with messages, without codes.
func answersPlatformCalls(folder string) bool {
	return folder != "shared/ingest/batch/batchhttp" && folder != "shared/ingest/transaction/transactionhttp" &&
		!strings.HasPrefix(folder, "shared/access/auth")
}

// platformNeverSends are codes of packages that both interfaces share which no platform endpoint answers with, and why.
var platformNeverSends = map[string]string{
	"batch_not_enabled": "the platform's endpoints do not need the batch feature",
}

// uncodedKinds are the kinds of faults that docs/errors.md explains by their status, not by their code.
var uncodedKinds = []string{"Conflict", "Unavailable", "Internal", "Unauthorized", "UnsupportedMedia"}

// codesOfUncodedKinds returns the codes that a package passes to functions together with one of uncodedKinds.
func codesOfUncodedKinds(p *packages.Package) []string {
	var codes []string
	inspect(p, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 || !isUncodedKind(p, call.Args[0]) {
			return
		}
		if code, ok := constantString(p, call.Args[1]); ok {
			codes = append(codes, code)
		}
	})
	return codes
}

// isUncodedKind reports whether an expression is one of the constants in uncodedKinds.
func isUncodedKind(p *packages.Package, e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	if selector, isSelector := e.(*ast.SelectorExpr); isSelector {
		name, ok = selector.Sel, true
	}
	if !ok {
		return false
	}
	kind, ok := p.TypesInfo.Uses[name].(*types.Const)
	return ok && kind.Type().String() == modulePath+"/shared/kit/fault.Kind" &&
		slices.Contains(uncodedKinds, kind.Name())
}

func checkExplained(t *testing.T, doc, code string) {
	t.Helper()
	if !strings.Contains(doc, "`"+code+"`") {
		t.Errorf("docs/errors.md does not explain `%s`", code)
	}
}

var alarmName = regexp.MustCompile(`AlarmName: !Sub "\$\{Prefix\}-([a-z-]+)"`)

// Every alarm has an entry in one page of docs/operations, under the name that a notification shows, and the table of
// symptoms in docs/operations.md has the alarm in the row of that page.
func TestAlarmsHaveRunbooks(t *testing.T) {
	template := string(readFile(t, "template.yaml"))
	entries, rows := map[string]string{}, map[string]string{}
	for _, page := range runbookPages(t) {
		for _, entry := range runbookEntries(t, page) {
			if entries[entry] != "" {
				t.Errorf("%s and %s both have an entry for %s", entries[entry], page, entry)
			}
			entries[entry] = page
		}
	}
	for _, row := range tableRows(t, "docs/operations.md", "Symptoms") {
		for alarm := range strings.SplitSeq(row[1], ", ") {
			rows[alarm] = path.Join("docs", linksOf(row[0])[0])
		}
	}
	names := alarmName.FindAllStringSubmatch(template, -1)
	if want := strings.Count(template, "Type: AWS::CloudWatch::Alarm"); len(names) == 0 || len(names) != want {
		t.Errorf("%d of %d alarms have a name", len(names), want)
	}
	for _, name := range names {
		if page := entries[name[1]]; page == "" || rows[name[1]] != page {
			t.Errorf("the entry for %s is in %q, and docs/operations.md names %q", name[1], page, rows[name[1]])
		}
	}
	if len(rows) != len(names) {
		t.Errorf("docs/operations.md lists %d alarms, and the template has %d", len(rows), len(names))
	}
}

// runbookPages returns the pages to which the table of symptoms in docs/operations.md links.
func runbookPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, row := range tableRows(t, "docs/operations.md", "Symptoms") {
		pages = append(pages, path.Join("docs", linksOf(row[0])[0]))
	}
	return pages
}

var runbookEntry = regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)

// runbookEntries returns the headings of a page that have the form of an alarm's name.
func runbookEntries(t *testing.T, page string) []string {
	t.Helper()
	return slices.DeleteFunc(headingsOf(string(readFile(t, page))), func(heading string) bool {
		return !runbookEntry.MatchString(heading)
	})
}

var (
	formatVerb  = regexp.MustCompile(`%[a-z]`)
	placeholder = regexp.MustCompile(`\b[NM]\b|…`)
)

// batchMessageFolders are the packages with the texts of error_message.
var batchMessageFolders = []string{"shared/ingest/batch", "shared/ingest/intake", "shared/ingest/pipeline",
	"shared/ingest/unpack"}

// Every error_message of a batch that docs/errors.md lists is a text of the code. The page writes N, M and … for what
// the code fills in, and ends a message early by an ellipsis.
func TestBatchErrorMessagesAreCurrent(t *testing.T) {
	texts := batchTexts(t)
	for _, start := range documentedBatchMessages(t) {
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, start) }) {
			t.Errorf("docs/errors.md has the error_message %q, which is not a text of the code", start)
		}
	}
}

// batchSentence matches a text of the code that is the beginning of an error_message, or of a similar sentence.
var batchSentence = regexp.MustCompile(`^([A-Z][a-z]+|1|\*)( [^ ]+){2}.*[.;] ?$`)

// otherBatchSentences are the beginnings of sentences in batchMessageFolders that are no error_message of a batch, and
// why.
var otherBatchSentences = map[string]string{
	"The file is empty. ":                          "of a document",
	"The file did not arrive":                      "of a document",
	"The file has * bytes; at most * are allowed.": "of a document",
	"Upload it again as a new batch.":              "the end of others",
	"Split the file into several batches.":         "the end of another",
	"Files with the extension":                     "of a document",
	"There is no list":                             "of a request",
}

// Every error_message that the code can give a batch is listed in docs/errors.md.
func TestBatchErrorMessagesAreDocumented(t *testing.T) {
	documented := documentedBatchMessages(t)
	for _, text := range batchTexts(t) {
		isKnown := func(start string) bool { return strings.HasPrefix(text, start) }
		if batchSentence.MatchString(text) && !slices.ContainsFunc(documented, isKnown) &&
			!slices.ContainsFunc(slices.Collect(maps.Keys(otherBatchSentences)), isKnown) {
			t.Errorf("docs/errors.md does not have the error_message %q", text)
		}
	}
}

// batchTexts returns the texts in the code of batchMessageFolders, with a * for each value that the code fills in.
func batchTexts(t *testing.T) []string {
	var texts []string
	for _, p := range modulePackages(t) {
		if folder := folderOf(p); !slices.Contains(batchMessageFolders, folder) {
			continue
		}
		inspect(p, func(n ast.Node) {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					texts = append(texts, formatVerb.ReplaceAllString(text, "*"))
				}
			}
		})
	}
	return texts
}

// documentedBatchMessages returns the beginning of every error_message that docs/errors.md lists, with a * for each
// value that the code fills in.
func documentedBatchMessages(t *testing.T) []string {
	var starts []string
	for _, row := range tableRows(t, "docs/errors.md", "error_message of a batch") {
		for message := range strings.SplitSeq(row[1], " / ") {
			start, _ := strings.CutSuffix(message, " …")
			start, _ = strings.CutSuffix(start, ", …")
			starts = append(starts, placeholder.ReplaceAllString(start, "*"))
		}
	}
	return starts
}

// Every reason for which a call to the outside fails is explained in docs/errors.md.
func TestOutboundReasonsAreDocumented(t *testing.T) {
	doc := string(readFile(t, "docs/errors.md"))
	found := 0
	for _, p := range modulePackages(t) {
		if folderOf(p) == "shared/connect/outbound" {
			for _, reason := range stringConstantsOfType(p, "Reason") {
				found++
				checkExplained(t, doc, reason)
			}
		}
	}
	if found < 10 {
		t.Errorf("found %d reasons, want at least 10: has the type Reason been renamed?", found)
	}
}

var quotedMessage = regexp.MustCompile("`([a-z]+(?: [a-z]+){2,})`")

// Every message of the log that the pages of docs/operations quote is a text of the code: it is what operators search
// for. A message is a code span of three or more words in lower case that is not a command.
func TestRunbooksQuoteTheLog(t *testing.T) {
	var source strings.Builder
	for _, file := range filesNamed(t, "*.go") {
		if !strings.HasSuffix(file, "_test.go") {
			source.Write(readFile(t, file))
		}
	}
	found := 0
	for _, page := range filesNamed(t, "*.md") {
		if path.Dir(page) != "docs/operations" {
			continue
		}
		for _, quoted := range quotedMessage.FindAllStringSubmatch(string(readFile(t, page)), -1) {
			if strings.HasPrefix(quoted[1], "sluice ") {
				continue
			}
			found++
			if !strings.Contains(source.String(), quoted[1]) {
				t.Errorf("%s quotes the message %q, which is not in the code", page, quoted[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("found %d messages, want at least 10", found)
	}
}
