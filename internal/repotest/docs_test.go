package repotest

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"sluice/shared/kit/difftest"
)

// Every constant of a type that clients read as a text is explained.
func TestConstantsAreDocumented(t *testing.T) {
	for _, test := range []struct {
		folder, typeName string
		least            int
	}{
		{"shared/", "Code", 20}, // of lines
		{"shared/connect/outbound", "Reason", 10},
	} {
		found := map[string]bool{}
		for _, p := range modulePackages(t) {
			if strings.HasPrefix(folderOf(p), test.folder) {
				for _, text := range stringConstantsOfType(p, test.typeName) {
					found[text] = true
				}
			}
		}
		checkExplained(t, found, test.least)
	}
}

// checkExplained checks that docs/errors.md explains texts, of which there must be some.
func checkExplained(t *testing.T, texts map[string]bool, least int) {
	t.Helper()
	page := string(readFile(t, "docs/errors.md"))
	for text := range texts {
		difftest.Contains(t, "docs/errors.md does not explain `"+text+"`", page, "`"+text+"`")
	}
	if len(texts) < least {
		t.Errorf("found %d texts, want at least %d: has the type or the parameter been renamed?", len(texts), least)
	}
}

// monitoringFolders are the packages whose refusals are those of the monitoring interface.
var monitoringFolders = []string{"shared/ingest/batch/batchhttp", "shared/ingest/transaction/transactionhttp",
	"shared/ingest/find/findhttp",
	"shared/connect/webhook/webhookhttp"}

// codesWithoutEntry are codes that need no entry in docs/errors.md, and why.
var codesWithoutEntry = map[string]string{
	"":                      "no code",
	"batch_not_enabled":     "403: the platform's endpoints do not need the batch feature",
	"batch_not_found":       "404: it is in the audit trail and in no reply",
	"transaction_not_found": "404: as batch_not_found",
	"transaction_conflict":  "409: as batch_not_found",
	"foreign_tenant":        "404: as batch_not_found",
}

// uncodedKinds are the kinds of faults that docs/errors.md explains by their status, not by their code.
var uncodedKinds = []string{"Conflict", "Unavailable", "Internal", "Unauthorized", "UnsupportedMedia"}

// Every code that an endpoint can answer with is explained. It is recognised as a constant passed to a parameter named
// code, of fault.New or of whatever adds a validation error. The token endpoint has the codes of RFC 6749.
func TestCodesAreDocumented(t *testing.T) {
	platform, monitoring := map[string]bool{}, map[string]bool{}
	for _, p := range modulePackages(t) {
		folder := folderOf(p)
		if !strings.HasPrefix(folder, "shared/") || strings.HasPrefix(folder, "shared/access/auth") {
			continue
		}
		found, uncoded := monitoring, []string(nil)
		if !slices.Contains(monitoringFolders, folder) {
			found, uncoded = platform, codesOfUncodedKinds(p)
		}
		for _, code := range stringsPassedAs(p, "code") {
			if codesWithoutEntry[code] == "" && !slices.Contains(uncoded, code) {
				found[code] = true
			}
		}
	}
	checkExplained(t, platform, 15)
	checkExplained(t, monitoring, 30)
}

// codesOfUncodedKinds returns the codes that a package passes to functions together with one of uncodedKinds.
func codesOfUncodedKinds(p *packages.Package) []string {
	var codes []string
	inspect(p, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			return
		}
		kind := strings.TrimPrefix(types.ExprString(call.Args[0]), "fault.")
		if !slices.Contains(uncodedKinds, kind) {
			return
		}
		if code, ok := constantString(p, call.Args[1]); ok {
			codes = append(codes, code)
		}
	})
	return codes
}

var (
	// alarm matches the name of an alarm and the severity at the end of its description.
	alarm = regexp.MustCompile(
		`AlarmName: !Sub "\$\{Prefix\}-([a-z-]+)"\n +AlarmDescription: .+ \((page|ticket)\)\n`)
	// runbookEntry matches the headings of runbooks that have the form of an alarm's name.
	runbookEntry = regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)
)

// alarmSeverities returns the severities of all alarms by their names, as a notification shows them.
func alarmSeverities(t *testing.T) map[string]string {
	t.Helper()
	severities := map[string]string{}
	template := string(readFile(t, "template.yaml"))
	for _, match := range alarm.FindAllStringSubmatch(template, -1) {
		severities[match[1]] = match[2]
	}
	if want := strings.Count(template, "Type: AWS::CloudWatch::Alarm"); want == 0 || len(severities) != want {
		t.Fatalf("%d of %d alarms have a name and a severity", len(severities), want)
	}
	return severities
}

// Every alarm, and nothing else, has an entry in one page of docs/operations, and the table of symptoms in
// docs/operations.md has the alarm in the row of that page, in the column of its severity.
func TestAlarmsHaveRunbooks(t *testing.T) {
	entries, listed, severities := map[string]string{}, map[string]string{}, map[string]string{}
	for _, row := range tableRows(t, "docs/operations.md", "Symptoms") {
		page := path.Join("docs", linksOf(row[0])[0])
		for i, severity := range []string{"page", "ticket"} {
			for name := range strings.SplitSeq(row[1+i], ", ") {
				if name != "none" {
					listed[name], severities[name] = page, severity
				}
			}
		}
		for _, heading := range headingsOf(string(readFile(t, page))) {
			if runbookEntry.MatchString(heading) {
				entries[heading] += page
			}
		}
	}
	difftest.Equal(t, "pages that docs/operations.md names and that have the entries", listed, entries)
	difftest.Equal(t, "alarms of the template and of docs/operations.md", alarmSeverities(t), severities)
}

var (
	formatVerb  = regexp.MustCompile(`%[a-z]`)
	placeholder = regexp.MustCompile(`\b[NM]\b|…`)
	// batchSentence matches a text of the code that is the beginning of an error_message, or of a similar sentence.
	batchSentence = regexp.MustCompile(`^([A-Z][a-z]+|1|\*)( [^ ]+){2}.*[.;] ?$`)
)

// batchMessageFolders are the packages with the texts of error_message.
var batchMessageFolders = []string{"shared/ingest/batch", "shared/ingest/intake", "shared/ingest/pipeline",
	"shared/ingest/unpack"}

// otherBatchSentences are the beginnings of sentences in batchMessageFolders that are no error_message of a batch: of
// documents and requests, and the ends of others.
var otherBatchSentences = []string{"The file is empty. ", "The file did not arrive",
	"The file has * bytes; at most * are allowed.", "Files with the extension", "There is no list",
	"Upload it again as a new batch.", "Split the file into several batches."}

// docs/errors.md lists every error_message that the code can give a batch, and no other. The page writes N, M and … for
// the values that the code fills in, and ends a message early by an ellipsis.
func TestBatchErrorMessagesAreCurrent(t *testing.T) {
	var texts, starts []string
	for _, p := range modulePackages(t) {
		if !slices.Contains(batchMessageFolders, folderOf(p)) {
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
	for _, row := range tableRows(t, "docs/errors.md", "error_message of a batch") {
		for message := range strings.SplitSeq(row[1], " / ") {
			start := strings.TrimSuffix(strings.TrimSuffix(message, " …"), ",")
			starts = append(starts, placeholder.ReplaceAllString(start, "*"))
		}
	}
	for _, start := range starts {
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, start) }) {
			t.Errorf("docs/errors.md has the error_message %q, which is not a text of the code", start)
		}
	}
	for _, text := range texts {
		isKnown := func(start string) bool { return strings.HasPrefix(text, start) }
		if batchSentence.MatchString(text) && !slices.ContainsFunc(starts, isKnown) &&
			!slices.ContainsFunc(otherBatchSentences, isKnown) {
			t.Errorf("docs/errors.md does not have the error_message %q", text)
		}
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
			if found++; !strings.Contains(source.String(), quoted[1]) {
				t.Errorf("%s quotes the message %q, which is not in the code", page, quoted[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("found %d messages, want at least 10", found)
	}
}
