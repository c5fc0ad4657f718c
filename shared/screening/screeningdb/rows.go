package screeningdb

import (
	"encoding/json"
	"fmt"
	"time"

	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/property"
	"sluice/shared/screening"
)

// maxBodyBytes leaves room for the keys beside the body in an item of 400 KB.
const maxBodyBytes = 380_000

var (
	errTooLarge = fault.Newf(fault.TooLarge, "screening_too_large",
		"The batch or entity would have more than %d bytes as JSON.", maxBodyBytes)
	errMatchTooLarge = fault.Newf(fault.TooLarge, "match_too_large",
		"The match would have more than %d bytes as JSON.", screening.MaxMatchBytes)
	errResolutionTooLarge = fault.Newf(fault.TooLarge, "resolution_too_large",
		"The comments and the classification of a match would have more than %d bytes as JSON.",
		screening.MaxResolutionBytes)
	errTooManyBytes = fault.Newf(fault.TooLarge, "matches_too_large",
		"The matches and the IDs of the aliases that they resemble may have %d bytes together. Resolve fewer of them "+
			"at once.", maxTransactionBytes)
)

// batchBody is a batch as it is stored: as JSON in the attribute body.
type batchBody struct {
	ID             string           `json:"id"`
	Tenant         string           `json:"tenant"`
	Status         screening.Status `json:"status"`
	Type           string           `json:"type"`
	JourneyID      string           `json:"journeyId"`
	ProcessID      string           `json:"processId"`
	JourneyType    string           `json:"journeyType"`
	MainEntityID   string           `json:"mainEntityId"`
	MainEntityName string           `json:"mainEntityName"`
	Providers      []providerBody   `json:"providers"`
	EntityIDs      []string         `json:"entityIds"`
	OverriddenIDs  []string         `json:"overriddenIds"`
	CreatedAt      time.Time        `json:"createdAt"`
	CreatedBy      string           `json:"createdBy"`
	ClosedAt       time.Time        `json:"closedAt"`
	CorrelationID  string           `json:"correlationId"`
	Lists          []listBody       `json:"lists,omitempty"`
	Threshold      float64          `json:"threshold,omitempty"`
	Runs           int              `json:"runs,omitempty"`
	StartedAt      time.Time        `json:"startedAt,omitzero"`
	Matches        int              `json:"matches"`
	Unresolved     int              `json:"unresolved"`
	TrueMatches    int              `json:"trueMatches"`
	Version        int64            `json:"version"`
}

// providerBody is the search of a provider as it is stored in its batch.
type providerBody struct {
	ID                 string                   `json:"id"`
	Status             screening.ProviderStatus `json:"status"`
	ConfigurationSetID string                   `json:"configurationSetId"`
	Error              *errorBody               `json:"error"`
	Matches            int                      `json:"matches"`
	AnswerID           string                   `json:"answerId"`
	Run                int                      `json:"run,omitempty"`
}

// listBody is a pinned version of a list as it is stored in its batch.
type listBody struct {
	List       string    `json:"list"`
	Owner      string    `json:"owner"`
	Version    string    `json:"version"`
	SourceDate time.Time `json:"sourceDate"`
	ImportedAt time.Time `json:"importedAt"`
}

type errorBody struct {
	Source  string `json:"source"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// entityBody is an entity as it is stored. Criteria, aliases and properties have the form that they have on the wire.
type entityBody struct {
	ID              string                                  `json:"id"`
	BatchID         string                                  `json:"batchId"`
	LegalEntityID   string                                  `json:"legalEntityId"`
	Criteria        screening.SearchCriteria                `json:"criteria"`
	Aliases         []screening.Alias                       `json:"aliases"`
	Assessment      *assessmentBody                         `json:"assessment"`
	Materiality     map[string]map[string]property.Property `json:"materiality"`
	Escalation      *escalationBody                         `json:"escalation"`
	ImpactedClients []clientBody                            `json:"impactedClients"`
	Version         int64                                   `json:"version"`
}

type assessmentBody struct {
	Categories    map[screening.Category]categoryBody `json:"categories"`
	Rationale     string                              `json:"rationale"`
	By            string                              `json:"by"`
	ByType        string                              `json:"byType"`
	At            time.Time                           `json:"at"`
	JourneyTaskID string                              `json:"journeyTaskId"`
}

type categoryBody struct {
	Status        screening.Materiality `json:"status"`
	Jurisdictions []string              `json:"jurisdictions"`
	OKToProceed   *bool                 `json:"okToProceed"`
	Rationale     string                `json:"rationale"`
}

type escalationBody struct {
	TeamID  string    `json:"teamId"`
	UserID  string    `json:"userId"`
	Comment string    `json:"comment"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

type clientBody struct {
	LegalEntityID       string `json:"legalEntityId"`
	IsSelected          bool   `json:"isSelected"`
	ReasonForNoFollowUp string `json:"reasonForNoFollowUp"`
}

// key returns the key of a row. All rows of the area have the tenant first.
func key(tenant, owner, part string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenant + "#" + owner), "part": dynamo.String(part)}
}

func batchKey(tenant, id string) dynamo.Item { return key(tenant, "batch#"+id, "batch") }

func entityKey(tenant, batchID, id string) dynamo.Item {
	return key(tenant, "batch#"+batchID, "entity#"+id)
}

func searchKey(tenant, batchID, provider string) dynamo.Item {
	return key(tenant, "batch#"+batchID, "search#"+provider)
}

func processKey(tenant, journeyID, processID string) dynamo.Item {
	return key(tenant, "journey#"+journeyID, "process#"+processID)
}

// listPart is the place of a batch in the list of a journey or an entity: by creation time, then ID.
func listPart(b screening.Batch) string {
	return "batch#" + b.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000000Z") + "#" + b.ID
}

func journeyListItem(b screening.Batch) dynamo.Item {
	item := key(b.Tenant, "journey#"+b.JourneyID, listPart(b))
	item["batch"] = dynamo.String(b.ID)
	return item
}

func entityListOwner(entityID string) string { return "entity#" + entityID }

func entityListItem(b screening.Batch, entityID string) dynamo.Item {
	item := key(b.Tenant, entityListOwner(entityID), listPart(b))
	item["batch"] = dynamo.String(b.ID)
	return item
}

func marshalBatch(b screening.Batch) (dynamo.Item, error) {
	body := batchBody{
		ID: b.ID, Tenant: b.Tenant, Status: b.Status, Type: b.Type, JourneyID: b.JourneyID, ProcessID: b.ProcessID,
		JourneyType: b.JourneyType, MainEntityID: b.MainEntityID, MainEntityName: b.MainEntityName,
		EntityIDs: b.EntityIDs, OverriddenIDs: b.OverriddenIDs, CreatedAt: b.CreatedAt, CreatedBy: b.CreatedBy,
		ClosedAt: b.ClosedAt, CorrelationID: b.CorrelationID, Matches: b.Matches, Unresolved: b.Unresolved,
		TrueMatches: b.TrueMatches, Version: b.Version, Threshold: b.Threshold,
		Runs: b.Runs, StartedAt: b.StartedAt,
	}
	for _, l := range b.Lists {
		body.Lists = append(body.Lists, listBody(l))
	}
	for _, p := range b.Providers {
		body.Providers = append(body.Providers, providerBody{p.ID, p.Status, p.ConfigurationSetID,
			(*errorBody)(p.Error), p.Matches, p.AnswerID, p.Run})
	}
	item, err := marshal(batchKey(b.Tenant, b.ID), body, b.Version, maxBodyBytes, errTooLarge)
	if err == nil && b.IsSearching() {
		since := b.StartedAt
		if since.Before(b.CreatedAt) {
			since = b.CreatedAt
		}
		item["searching"], item["look_at"] = dynamo.String(shard(b.ID)), dynamo.String(dynamo.FormatTime(since))
	}
	return item, err
}

func unmarshalBatch(item dynamo.Item) (screening.Batch, error) {
	var body batchBody
	if err := unmarshal(item, "body", &body); err != nil {
		return screening.Batch{}, err
	}
	b := screening.Batch{
		ID: body.ID, Tenant: body.Tenant, Status: body.Status, Type: body.Type, JourneyID: body.JourneyID,
		ProcessID: body.ProcessID, JourneyType: body.JourneyType, MainEntityID: body.MainEntityID,
		MainEntityName: body.MainEntityName, EntityIDs: body.EntityIDs, OverriddenIDs: body.OverriddenIDs,
		CreatedAt: body.CreatedAt, CreatedBy: body.CreatedBy, ClosedAt: body.ClosedAt,
		CorrelationID: body.CorrelationID, Matches: body.Matches, Unresolved: body.Unresolved,
		TrueMatches: body.TrueMatches, Version: body.Version, Threshold: body.Threshold, Runs: body.Runs,
		StartedAt: body.StartedAt,
	}
	for _, l := range body.Lists {
		b.Lists = append(b.Lists, screening.ListVersion(l))
	}
	for _, p := range body.Providers {
		b.Providers = append(b.Providers, screening.ProviderRun{ID: p.ID, Status: p.Status,
			ConfigurationSetID: p.ConfigurationSetID, Error: (*screening.ProviderError)(p.Error), Matches: p.Matches,
			AnswerID: p.AnswerID, Run: p.Run})
	}
	return b, nil
}

func marshalEntity(tenant string, e screening.Entity) (dynamo.Item, error) {
	body := entityBody{ID: e.ID, BatchID: e.BatchID, LegalEntityID: e.LegalEntityID, Criteria: e.Criteria,
		Aliases: e.Aliases, Materiality: e.Materiality, Escalation: (*escalationBody)(e.Escalation), Version: e.Version}
	for _, c := range e.ImpactedClients {
		body.ImpactedClients = append(body.ImpactedClients, clientBody(c))
	}
	if a := e.Assessment; a != nil {
		body.Assessment = &assessmentBody{map[screening.Category]categoryBody{}, a.Rationale, a.By, a.ByType, a.At,
			a.JourneyTaskID}
		for name, c := range a.Categories {
			body.Assessment.Categories[name] = categoryBody(c)
		}
	}
	return marshal(entityKey(tenant, e.BatchID, e.ID), body, e.Version, maxBodyBytes, errTooLarge)
}

func unmarshalEntity(item dynamo.Item) (screening.Entity, error) {
	var body entityBody
	if err := unmarshal(item, "body", &body); err != nil {
		return screening.Entity{}, err
	}
	e := screening.Entity{ID: body.ID, BatchID: body.BatchID, LegalEntityID: body.LegalEntityID,
		Criteria: body.Criteria, Aliases: body.Aliases, Materiality: body.Materiality,
		Escalation: (*screening.Escalation)(body.Escalation), Version: body.Version}
	for _, c := range body.ImpactedClients {
		e.ImpactedClients = append(e.ImpactedClients, screening.ImpactedClient(c))
	}
	if a := body.Assessment; a != nil {
		e.Assessment = &screening.Assessment{Categories: map[screening.Category]screening.CategoryAssessment{},
			Rationale: a.Rationale, By: a.By, ByType: a.ByType, At: a.At, JourneyTaskID: a.JourneyTaskID}
		for name, c := range a.Categories {
			e.Assessment.Categories[name] = screening.CategoryAssessment(c)
		}
	}
	return e, nil
}

// marshal adds a body and a version to the key of a row.
func marshal(item dynamo.Item, body any, version int64, limit int, tooLarge error) (dynamo.Item, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write screening: %w", err)
	}
	if len(text) > limit {
		return nil, tooLarge
	}
	item["body"], item["version"] = dynamo.Binary(text), dynamo.Number(version)
	return item, nil
}

func unmarshal(item dynamo.Item, attribute string, into any) error {
	text := dynamo.BinaryAttribute(item, attribute)
	if text == nil {
		return fmt.Errorf("read screening: the row has no %s", attribute)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read screening: %w", err)
	}
	return nil
}
