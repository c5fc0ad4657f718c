package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// screeningQueries is the path under which screenings are read.
const screeningQueries = "/screeningquery/api/v4"

// NameQuery is a name that is tried alone, and what is known of who has it. What is empty is unknown.
type NameQuery struct {
	Name string
	// IsCompany means that the name is that of a company; without it, the name is an individual's.
	IsCompany bool
	// BirthDate is that of an individual, DD/MM/YYYY.
	BirthDate string
	// Country is that of the nationality of an individual, or in which a company is registered: a code or an English
	// name.
	Country string
	// Gender is that of an individual, male or female.
	Gender string
	// Lists are the names of the lists that are searched. None stands for those of the tenant's configuration.
	Lists []string
	// Threshold is the score that a hit reaches, 0 to 100. Nil stands for that of the tenant's configuration.
	Threshold *float64
}

// NameHit is an entry of a watchlist that a name may be.
type NameHit struct {
	// List is the name of the list, and ID the list's own for the entry.
	List, ID string
	// Name is the name of the entry that matched best.
	Name string
	// Score is 0 to 100.
	Score float64
	// Explanation says which words met which, how, what was missing, and which version of the list it is.
	Explanation string
	// Reply is the hit as it came.
	Reply json.RawMessage
}

// MatchName returns the entries of the service's watchlists that a name may be, best first, and what the service says
// beside, such as that there are more hits. The service stores nothing of it.
func (c *Client) MatchName(ctx context.Context, q NameQuery) (hits []NameHit, warnings []string, err error) {
	body, err := json.Marshal(map[string]any{"data": q.request()})
	if err != nil {
		return nil, nil, err
	}
	var reply struct {
		Data     []json.RawMessage
		Messages []struct{ Message string }
	}
	err = c.send(ctx, http.MethodPost, screeningQueries+"/match-name", body, c.tenantHeader(), &reply)
	if err != nil {
		return nil, nil, err
	}
	for _, item := range reply.Data {
		hit, err := newNameHit(item)
		if err != nil {
			return nil, nil, err
		}
		hits = append(hits, hit)
	}
	for _, m := range reply.Messages {
		warnings = append(warnings, m.Message)
	}
	return hits, warnings, nil
}

// nameRequest is what the service is asked.
type nameRequest struct {
	SearchCriteria nameCriteria `json:"searchCriteria"`
	Lists          []string     `json:"lists,omitempty"`
	Threshold      *float64     `json:"threshold,omitempty"`
}

type nameCriteria struct {
	Type              string `json:"type"`
	FullName          string `json:"fullName,omitempty"`
	LegalEntityName   string `json:"legalEntityName,omitempty"`
	DateOfBirth       string `json:"dateOfBirth,omitempty"`
	Gender            string `json:"gender,omitempty"`
	Nationality       string `json:"nationality,omitempty"`
	RegisteredCountry string `json:"registeredCountry,omitempty"`
}

func (q NameQuery) request() nameRequest {
	r := nameRequest{Lists: q.Lists, Threshold: q.Threshold}
	if q.IsCompany {
		r.SearchCriteria = nameCriteria{Type: "Company", LegalEntityName: q.Name, RegisteredCountry: q.Country}
		return r
	}
	r.SearchCriteria = nameCriteria{Type: "Individual", FullName: q.Name, DateOfBirth: q.BirthDate, Gender: q.Gender,
		Nationality: q.Country}
	return r
}

// newNameHit reads a hit of a reply. The built-in provider gives the name that matched and its explanation as further
// facts of the entry.
func newNameHit(item json.RawMessage) (NameHit, error) {
	var data struct {
		ProviderSourceName string
		Name               string
		MatchScore         float64
		ExternalIDs        []struct{ Value string }
		AdditionalInfo     []struct{ Label, Value string }
	}
	if err := json.Unmarshal(item, &data); err != nil {
		return NameHit{}, err
	}
	hit := NameHit{List: data.ProviderSourceName, Name: data.Name, Score: data.MatchScore, Reply: item}
	if len(data.ExternalIDs) > 0 {
		hit.ID = data.ExternalIDs[0].Value
	}
	for _, info := range data.AdditionalInfo {
		switch info.Label {
		case "Matched name":
			hit.Name = info.Value
		case "Explanation":
			hit.Explanation = info.Value
		}
	}
	return hit, nil
}
