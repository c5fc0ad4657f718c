package screening

import (
	"fmt"
	"net/url"
	"time"

	"github.com/google/uuid"
)

// MatchStatus is the decision about a match.
type MatchStatus string

// The statuses of a match.
const (
	TrueMatch  MatchStatus = "Match"
	NoMatch    MatchStatus = "No Match"
	Unresolved MatchStatus = "Unresolved"
)

// Match is an entry of a provider's lists that may be the entity. Storage keeps its JSON form.
type Match struct {
	ID       string `json:"id"`
	BatchID  string `json:"batchId"`
	EntityID string `json:"entityId"`
	// AnswerID is the match's answer of a provider.
	AnswerID string `json:"answerId"`
	// AliasIDs are the aliases of the entity that the entry resembles; PrimaryName stands for its main name.
	AliasIDs []string `json:"aliasIds"`
	// UniqueID identifies the entry over batches and versions of its list.
	UniqueID   string     `json:"uniqueId"`
	Data       MatchData  `json:"data"`
	Resolution Resolution `json:"-"`
	// Version is 1 for a new match and grows by one with every resolution. Writes are conditional on it.
	Version int64 `json:"-"`
}

// NewMatchID returns the ID of the match of an entity with an entry in an answer. The same answer has the same matches.
func NewMatchID(answerID, entityID, uniqueID string) string {
	return uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%q %q %q", answerID, entityID, uniqueID)).String()
}

// EntityOverLimit returns the entity with more than MaxMatches matches, false if there is none.
func EntityOverLimit(matches []Match) (entityID string, found bool) {
	counts := map[string]int{}
	for _, m := range matches {
		if counts[m.EntityID]++; counts[m.EntityID] > MaxMatches {
			return m.EntityID, true
		}
	}
	return "", false
}

// Resolution is the decision about a match, and its author. Storage has its JSON form apart from the match's.
type Resolution struct {
	Status MatchStatus `json:"status"`
	// Reason and Comments explain the status; "" if people gave none.
	Reason   string `json:"reason"`
	Comments string `json:"comments"`
	// Classification holds values that the institution gives to the match, by field.
	Classification map[string]Label `json:"classification"`
	// ClassificationReviewed means that people have confirmed the classification.
	ClassificationReviewed bool `json:"classificationReviewed"`
	// Action is nil as long as nobody has acted on the match.
	Action *MatchAction `json:"action"`
}

// Label is a value of a field and how it is shown.
type Label struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// ActorClient is the type of the actors here: programs of the tenant.
const ActorClient = "Client"

// MatchAction is the last action on a match.
type MatchAction struct {
	// By is the ID of the client.
	By string `json:"by"`
	// Type is ActorClient.
	Type string    `json:"type"`
	At   time.Time `json:"at"`
	// Reused means that the resolution was taken over from an earlier batch.
	Reused bool `json:"reused"`
}

// MatchData is a provider's data about an entry of its lists. Its JSON form is the same on the wire and in storage. A
// nil pointer means that the provider has no value.
type MatchData struct {
	ProviderID string `json:"providerId"`
	// ProviderSourceName is the name of the list that has the entry.
	ProviderSourceName string       `json:"providerSourceName"`
	Name               string       `json:"name"`
	ExternalIDs        []ExternalID `json:"externalIds"`
	Aliases            []string     `json:"aliasesList"`
	// Gender is Male or Female.
	Gender *string `json:"gender"`
	// BirthDates are written as the list has them: years, months or days.
	BirthDates []string `json:"dateOfBirthList"`
	Country    *string  `json:"country"`
	// EntityType is Individual, Company or Other.
	EntityType *string `json:"entityType"`
	// Score is the similarity of the names, from 0 to 100.
	Score              *float64       `json:"matchScore"`
	ProviderSourceURL  *string        `json:"providerSourceUrl"`
	ProviderSourceURLs []SourceURL    `json:"providerSourceUrls"`
	Addresses          []MatchAddress `json:"addresses"`
	Citizenships       []string       `json:"citizenshipList"`
	Nationalities      []string       `json:"nationalityList"`
	BirthPlaces        []string       `json:"placeOfBirthList"`
	CountryOfResidence *string        `json:"countryOfResidence"`
	RegisteredCountry  *string        `json:"registeredCountry"`
	IDs                []Identifier   `json:"idsList"`
	Associations       []Association  `json:"associations"`
	// Categories are the kinds of risk of the entry: AdverseMedia, Enforcements, Other, Pep and Sanctions.
	Categories      []string        `json:"categories"`
	CategoryDetails []CategoryTable `json:"categoryDetails"`
	// Sources are the lists or publications on which the entry is based, and SourcesInfo remarks on them.
	Sources                   []string    `json:"sources"`
	SourcesInfo               []string    `json:"sourcesInfo"`
	AdditionalInfo            []InfoField `json:"additionalInfo"`
	RichTextAdditionalDetails *string     `json:"richTextAdditionalDetails"`
}

// ExternalID is an ID that another system knows.
type ExternalID struct {
	Source string `json:"source"`
	Name   string `json:"name"`
	Value  string `json:"value"`
}

// MaxURL is the length of the longest URL of a match, in bytes.
const MaxURL = 2048

// IsWebAddress reports whether a text of a provider or a list is a URL that people can be led to: an absolute one of
// http or https, of at most MaxURL bytes.
func IsWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && len(text) <= MaxURL && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// SourceURL is an address at which a source describes an entry.
type SourceURL struct {
	URL           string  `json:"url"`
	Label         *string `json:"label"`
	EntityAliasID *string `json:"entityAliasId"`
}

// MatchAddress is an address of an entry.
type MatchAddress struct {
	Address
	Category string `json:"category,omitempty"`
}

// Identifier is a document or number that identifies an entry.
type Identifier struct {
	Type       string  `json:"type"`
	Value      string  `json:"value"`
	Country    *string `json:"country"`
	Label      *string `json:"label"`
	IssueDate  *string `json:"issueDate"`
	ExpiryDate *string `json:"expiryDate"`
}

// Association is a party related to an entry.
type Association struct {
	ExternalID          *string  `json:"externalId"`
	Category            *string  `json:"category"`
	FullName            string   `json:"fullName"`
	Relationship        *string  `json:"relationship"`
	RelationshipGroup   *string  `json:"relationshipGroup"`
	OwnershipPercentage *float64 `json:"ownershipPercentage"`
}

// CategoryTable is a provider's data about one category of risk, as rows of fields.
type CategoryTable struct {
	Kind string        `json:"kind"`
	Rows []CategoryRow `json:"rows"`
}

// CategoryRow is a row of a CategoryTable; rows below it are SubRows.
type CategoryRow struct {
	Fields  []InfoField   `json:"fields"`
	SubRows []CategoryRow `json:"subRows"`
}

// InfoField is a value with its label.
type InfoField struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// WithLists returns the data with empty lists in place of absent ones, as readers see it.
func (d MatchData) WithLists() MatchData {
	d.ExternalIDs, d.Aliases, d.BirthDates = orEmpty(d.ExternalIDs), orEmpty(d.Aliases), orEmpty(d.BirthDates)
	d.ProviderSourceURLs, d.Addresses = orEmpty(d.ProviderSourceURLs), orEmpty(d.Addresses)
	d.Citizenships, d.Nationalities = orEmpty(d.Citizenships), orEmpty(d.Nationalities)
	d.BirthPlaces, d.IDs, d.Associations = orEmpty(d.BirthPlaces), orEmpty(d.IDs), orEmpty(d.Associations)
	d.Categories = orEmpty(d.Categories)
	tables := make([]CategoryTable, len(d.CategoryDetails))
	for i, t := range d.CategoryDetails {
		tables[i] = CategoryTable{t.Kind, rowsWithLists(t.Rows)}
	}
	d.CategoryDetails = tables
	d.Sources, d.SourcesInfo, d.AdditionalInfo = orEmpty(d.Sources), orEmpty(d.SourcesInfo), orEmpty(d.AdditionalInfo)
	return d
}

func rowsWithLists(rows []CategoryRow) []CategoryRow {
	out := make([]CategoryRow, len(rows))
	for i, r := range rows {
		out[i] = CategoryRow{orEmpty(r.Fields), rowsWithLists(r.SubRows)}
	}
	return out
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
