package clienttest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"sluice/client"
	"sluice/shared/ingest/unpack"
)

// maxOtherLines is how many other lines an error about a duplicate lists.
const maxOtherLines = 10

// decide validates the uploaded batch and decides how it will end.
func (b *batch) decide() {
	if b.errorMessage = b.unpack(); b.errorMessage != "" {
		b.statuses = []string{"", client.StatusError}
		return
	}
	if bytes.Contains(b.content, []byte(Infected)) {
		b.statuses = []string{"", client.StatusError}
		b.errorMessage = "The malware scan refused the file (test)."
		return
	}
	b.validate()
	b.valid = b.invalid == 0 && b.total > 0
	if !b.valid && (b.RejectOnInvalid || b.invalid == b.total || b.hasTooManyInvalid()) {
		b.statuses = []string{"", client.StatusValidationStarted, client.StatusValidationFailed}
		b.errorMessage = invalidMessage(b.invalid, b.total)
		return
	}
	if b.ValidateOnly {
		b.statuses = []string{"", client.StatusValidationStarted, client.StatusProcessed}
		return
	}
	b.statuses = []string{"", client.StatusValidationStarted, client.StatusPendingIngestion, client.StatusInitialized,
		client.StatusInProgress, client.StatusProcessed}
}

// unpack unpacks the content if it is packed, and returns the message for a file that cannot be unpacked.
func (b *batch) unpack() string {
	packed := unpack.Recognize(b.content)
	if declared := b.ContentEncoding; declared != "" && declared != string(packed) {
		return "The file was announced as packed with " + declared + ", but it does not begin as such a file does."
	}
	if packed == client.EncodingIdentity {
		return ""
	}
	r := unpack.NewReader(bytes.NewReader(b.content), packed, int64(len(b.content)), unpack.DefaultLimits)
	defer r.Close()
	var err error
	if b.content, err = io.ReadAll(r); err != nil {
		return err.Error()
	}
	return ""
}

// hasTooManyInvalid reports whether there are more invalid transactions than the batch may have.
func (b *batch) hasTooManyInvalid() bool {
	switch {
	case b.MaxRejected == nil:
		return false
	case b.MaxRejected.Share == "":
		return b.invalid > b.MaxRejected.Lines
	}
	limit, ok := new(big.Rat).SetString(strings.TrimSuffix(b.MaxRejected.Share, "%"))
	return !ok || new(big.Rat).SetFrac64(100*b.invalid, b.total).Cmp(limit) > 0
}

// invalidMessage counts the invalid transactions for people.
func invalidMessage(invalid, total int64) string {
	if invalid == 1 {
		return fmt.Sprintf("1 of %d transactions is invalid.", total)
	}
	return fmt.Sprintf("%d of %d transactions are invalid.", invalid, total)
}

// lineIDs are the IDs that the server reads of a line.
type lineIDs struct {
	TransactionExternalID string `json:"transaction_external_id"`
	Modification          struct {
		ExternalID string `json:"external_id"`
	} `json:"modification"`
}

// validate counts the lines and writes the report of the invalid ones.
func (b *batch) validate() {
	var rows []client.ReportLine
	linesByID := map[string][]int64{}
	offsetByLine := map[int64]int64{}
	number, start := int64(0), int64(0)
	for line := range bytes.Lines(b.content) {
		number++
		if len(bytes.TrimSpace(line)) > 0 {
			b.total++
			ids, invalid := readLine(line, start)
			if invalid != nil {
				rows = append(rows, client.ReportLine{Line: number, Errors: []client.ReportError{*invalid}})
			} else {
				id := ids.Modification.ExternalID
				linesByID[id] = append(linesByID[id], number)
				offsetByLine[number] = start + int64(bytes.Index(line, []byte(`"`+id+`"`)))
			}
		}
		start += int64(len(line))
	}
	for id, lines := range linesByID {
		for _, n := range lines {
			if len(lines) > 1 {
				rows = append(rows, duplicateLine(id, n, offsetByLine[n], lines))
			}
		}
	}
	slices.SortFunc(rows, func(a, b client.ReportLine) int { return cmp.Compare(a.Line, b.Line) })
	b.invalid = int64(len(rows))
	b.csv = []byte("line,modification_external_id,transaction_external_id,code,field,message,offset\r\n")
	content := bytes.Split(b.content, []byte{'\n'})
	for _, row := range rows {
		text, _ := json.Marshal(row)
		b.report = append(append(b.report, text...), '\n')
		b.csv = fmt.Appendf(b.csv, "%d,,,%s,,,%d\r\n", row.Line, row.Errors[0].Type, row.Errors[0].Offset)
		b.rejected = append(append(b.rejected, content[row.Line-1]...), '\n')
	}
}

// readLine returns the IDs of a line that begins at an offset of the file, or what is wrong with it.
func readLine(line []byte, start int64) (lineIDs, *client.ReportError) {
	var ids lineIDs
	var syntax *json.SyntaxError
	err := json.Unmarshal(line, &ids)
	switch {
	case errors.As(err, &syntax):
		return ids, &client.ReportError{Loc: []any{}, Msg: "The line is not valid JSON.", Type: "json_invalid",
			Offset: start + syntax.Offset - 1}
	case err != nil:
		return ids, &client.ReportError{Loc: []any{}, Msg: "A line must be one JSON object: one transaction.",
			Type: "object_type", Offset: start}
	}
	return ids, nil
}

// duplicateLine is the report of line n, whose modification ID all the given lines have.
func duplicateLine(id string, n, offset int64, lines []int64) client.ReportLine {
	others := slices.Clone(lines[:min(len(lines), maxOtherLines+1)])
	others = slices.DeleteFunc(others, func(line int64) bool { return line == n })
	return client.ReportLine{Line: n, ModificationExternalID: id, Errors: []client.ReportError{{
		Loc: []any{"modification", "external_id"}, Msg: "Another line has the same modification ID.",
		Type: "duplicate_modification_id", Pointer: "/modification/external_id", Offset: offset,
		OtherLines: others[:min(len(others), maxOtherLines)], OtherLinesTotal: int64(len(lines) - 1),
	}}}
}
