package adapter

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/kit/entityid"
	"sluice/shared/screening"
)

// Answer is the content of a response: matches, or the reason why there are none. Its members are named so that the
// first 12 bytes of its JSON text contain nothing but a brace, a quotation mark and a name, with white space: every
// name has at least seven letters. A changed initialization vector changes those bytes alone. They then say the same or
// are refused, because other names are not known and both members are required; compressed text is protected by its
// checksum.
type Answer struct {
	// BatchID is the ID of the batch, so that the response to one batch cannot be sent for another.
	BatchID string `json:"batchId"`
	// Matches are the results of a successful search, for the type Screen only.
	Matches []AnswerMatch `json:"matches,omitzero"`
	// ErrorDetails explains the status Error to people, for that status only.
	ErrorDetails *string `json:"errorDetails,omitzero"`
}

// AnswerMatch is an entry of the provider's lists that may be an entity of the batch.
type AnswerMatch struct {
	EntityID string `json:"entityId"`
	// EntityUniqueID identifies the entry over batches.
	EntityUniqueID string `json:"entityUniqueId"`
	// EntityAliasIDs are the names of the entity that the entry resembles; empty stands for its main name.
	EntityAliasIDs []string            `json:"entityAliasIds,omitempty"`
	MatchData      screening.MatchData `json:"matchData"`
}

const (
	// maxObjects bounds the JSON objects of a response; opening braces in strings count, too.
	maxObjects = 1_000_000
	// maxMatchText is the size of the largest match as it is sent, in bytes. Its data is bounded further by checkData.
	maxMatchText = 256 << 10
	// maxID is the length of the longest ID of a match, in bytes.
	maxID = 255
	// maxDepth is how many levels of rows a match has.
	maxDepth = 5
)

// ParseAnswer reads the JSON text of a response with a type and a status. Keys that are not known, keys that appear
// twice, values of another type and invalid UTF-8 are refused with an *InvalidError. Of a response that is refused it
// returns the BatchID, as far as that could be read, and nothing else: what is wrong with the response to one batch
// must not be recorded for another.
//
// A text of a few bytes for each object or string would become a hundred times as large in memory. MaxMatches,
// maxObjects and maxMatchText are therefore enforced before the values are made.
func ParseAnswer(text []byte, t Type, status string) (Answer, error) {
	if !utf8.Valid(text) {
		return Answer{}, invalidf("The response is not valid UTF-8.")
	}
	if bytes.Count(text, []byte{'{'}) > maxObjects {
		return Answer{}, invalidf("The response has more than %d objects.", maxObjects)
	}
	var a Answer
	err := json.Unmarshal(text, &a, json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.UnmarshalFromFunc(unmarshalMatches)))
	if err != nil {
		return Answer{BatchID: a.BatchID}, explain(err, "")
	}
	if err := a.checkMembers(t, status); err != nil {
		return Answer{BatchID: a.BatchID}, err
	}
	return a, nil
}

// unmarshalMatches reads the matches of an answer, up to the first that is one too many.
func unmarshalMatches(d *jsontext.Decoder, matches *[]AnswerMatch) error {
	if d.PeekKind() != '[' {
		return errors.ErrUnsupported // null, or a value of another type: the package reads or refuses it
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	*matches = []AnswerMatch{}
	for d.PeekKind() != ']' {
		if len(*matches) == MaxMatches {
			return invalidf("The response has more than %d matches.", MaxMatches)
		}
		text, err := d.ReadValue()
		if err != nil {
			return err
		}
		place := jsontext.Pointer(fmt.Sprintf("/matches/%d", len(*matches)))
		if len(text) > maxMatchText {
			return invalidf("A match has more than %d bytes: %s.", maxMatchText, place)
		}
		var m AnswerMatch
		if err := json.Unmarshal(text, &m, json.RejectUnknownMembers(true)); err != nil {
			return explain(err, place)
		}
		*matches = append(*matches, m)
	}
	_, err := d.ReadToken()
	return err
}

// checkMembers checks that the answer has the members that its type and status need, and no others.
func (a Answer) checkMembers(t Type, status string) error {
	switch {
	case a.BatchID == "":
		return invalidf("The response has no batchId.")
	case a.ErrorDetails != nil && status != Error:
		return invalidf("The response has errorDetails, but the status is %s.", status)
	case a.ErrorDetails == nil && status == Error:
		return invalidf("The status is Error, but the response has no errorDetails.")
	case a.Matches != nil && (status != Success || t != Screen):
		return invalidf("The response has matches, but it does not answer a search with success.")
	case a.Matches == nil && status == Success && t == Screen:
		return invalidf("The response has no matches. A search without a match has an empty list.")
	case a.ErrorDetails != nil && utf8.RuneCountInString(*a.ErrorDetails) > MaxErrorDetails:
		return invalidf("errorDetails has more than %d characters.", MaxErrorDetails)
	}
	return nil
}

// explain says where the JSON text at a place of the response is not as it must be, without quoting values.
func explain(err error, at jsontext.Pointer) error {
	var invalid *InvalidError
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &invalid):
		return invalid
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		return invalidf("The response has a key that is not known: %s.", placeText(at+semantic.JSONPointer))
	case errors.As(err, &semantic):
		return invalidf("The response has a value of the wrong type: %s.", placeText(at+semantic.JSONPointer))
	case errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName):
		return invalidf("The response has a key twice: %s.", placeText(at+syntactic.JSONPointer))
	case errors.As(err, &syntactic):
		return invalidf("The response is not valid JSON: it could be read up to byte %d.", syntactic.ByteOffset)
	}
	return invalidf("The response is not a JSON object of the right form.")
}

// maxPlace is how many bytes of a place in the response a message names.
const maxPlace = 200

// placeText returns a pointer as text that is safe in a message.
func placeText(p jsontext.Pointer) string {
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, string(p))
	if text == "" {
		return "the whole"
	}
	if len(text) > maxPlace {
		return strings.ToValidUTF8(text[:maxPlace], "") + "..."
	}
	return text
}

// Batch is the batch of an answer, for checks of its matches.
type Batch struct {
	ID         string
	ProviderID string
	// Aliases are the IDs of the aliases of each entity, by the entity's ID.
	Aliases map[string][]string
}

// Check returns the matches of an answer to a batch, with the provider's data. It returns an *InvalidError
// that names the first match that is not valid.
func (a Answer) Check(b Batch) ([]screening.Match, error) {
	if !strings.EqualFold(a.BatchID, b.ID) {
		return nil, invalidf("The response is that to another batch.")
	}
	matches := make([]screening.Match, len(a.Matches))
	for i, m := range a.Matches {
		m.EntityID = entityid.Normalize(m.EntityID)
		if err := m.check(b); err != nil {
			return nil, invalidf("matches/%d: %s", i, err)
		}
		aliases := m.EntityAliasIDs
		if len(aliases) == 0 {
			aliases = []string{screening.PrimaryName}
		}
		matches[i] = screening.Match{EntityID: m.EntityID, AliasIDs: aliases, UniqueID: m.EntityUniqueID,
			Data: m.MatchData}
	}
	return matches, nil
}

func (m AnswerMatch) check(b Batch) error {
	aliases, ok := b.Aliases[m.EntityID]
	if !ok {
		return invalidf("The batch has no entity of this entityId.")
	}
	if m.EntityUniqueID == "" || len(m.EntityUniqueID) > maxID {
		return invalidf("entityUniqueId must have 1 to %d bytes.", maxID)
	}
	for i, id := range m.EntityAliasIDs {
		if id != screening.PrimaryName && !slices.Contains(aliases, id) || slices.Contains(m.EntityAliasIDs[:i], id) {
			return invalidf("entityAliasIds must be IDs of the entity's aliases or %s, each once.",
				screening.PrimaryName)
		}
	}
	return checkData(m.MatchData, b.ProviderID)
}

// checkData checks a provider's data about an entry.
func checkData(d screening.MatchData, providerID string) error {
	if d.ProviderID != providerID {
		return invalidf("matchData/providerId must equal the providerId of the message.")
	}
	if d.ProviderSourceName == "" {
		return invalidf("matchData/providerSourceName is missing.")
	}
	for _, c := range d.Categories {
		if !slices.Contains(categories, c) {
			return invalidf("matchData/categories has a value that is not one of %s.", strings.Join(categories, ", "))
		}
	}
	if d.EntityType != nil && !slices.Contains(entityTypes, *d.EntityType) {
		return invalidf("matchData/entityType is not one of %s.", strings.Join(entityTypes, ", "))
	}
	if d.Gender != nil && !slices.Contains(genders, *d.Gender) {
		return invalidf("matchData/gender is not one of %s.", strings.Join(genders, ", "))
	}
	if d.Score != nil && (math.IsNaN(*d.Score) || *d.Score < 0 || *d.Score > 100) {
		return invalidf("matchData/matchScore must be 0 to 100.")
	}
	if d.ProviderSourceURL != nil && !screening.IsWebAddress(*d.ProviderSourceURL) {
		return invalidf("matchData/providerSourceUrl must be an absolute http or https URL.")
	}
	for _, u := range d.ProviderSourceURLs {
		if !screening.IsWebAddress(u.URL) {
			return invalidf("matchData/providerSourceUrls must be absolute http or https URLs.")
		}
	}
	for _, t := range d.CategoryDetails {
		if depthOf(t.Rows) > maxDepth {
			return invalidf("matchData/categoryDetails has rows in more than %d levels.", maxDepth)
		}
	}
	text, err := json.Marshal(d)
	if err != nil || len(text) > screening.MaxMatchBytes-matchOverhead {
		return invalidf("matchData has more than %d bytes as JSON.", screening.MaxMatchBytes-matchOverhead)
	}
	return nil
}

// matchOverhead is the space, in bytes, for the other stored parts of a match.
const matchOverhead = 2 << 10

// The values of enumerations of matchData.
var (
	categories  = []string{"AdverseMedia", "Enforcements", "Other", "Pep", "Sanctions"}
	entityTypes = []string{"Individual", "Company", "Other"}
	genders     = []string{"Male", "Female"}
)

// depthOf returns how many levels rows have, or more than maxDepth.
func depthOf(rows []screening.CategoryRow) int {
	return depthBelow(rows, 0)
}

func depthBelow(rows []screening.CategoryRow, level int) int {
	deepest := level
	if len(rows) == 0 || level > maxDepth {
		return deepest
	}
	for _, r := range rows {
		deepest = max(deepest, depthBelow(r.SubRows, level+1))
	}
	return max(deepest, level+1)
}
