package screeningdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening"
)

// matchBody is the part of a match that never changes, as it is stored. Its data has the form that it has on the wire.
type matchBody struct {
	ID       string              `json:"id"`
	BatchID  string              `json:"batchId"`
	EntityID string              `json:"entityId"`
	AnswerID string              `json:"answerId"`
	AliasIDs []string            `json:"aliasIds"`
	UniqueID string              `json:"uniqueId"`
	Data     screening.MatchData `json:"data"`
}

// resolutionBody is the part of a match that people change, as it is stored in an attribute of its own.
type resolutionBody struct {
	Status                 screening.MatchStatus      `json:"status"`
	Reason                 string                     `json:"reason"`
	Comments               string                     `json:"comments"`
	Classification         map[string]screening.Label `json:"classification"`
	ClassificationReviewed bool                       `json:"classificationReviewed"`
	Action                 *actionBody                `json:"action"`
}

type actionBody struct {
	By     string    `json:"by"`
	Type   string    `json:"type"`
	At     time.Time `json:"at"`
	Reused bool      `json:"reused"`
}

// matchPrefix begins the parts of the matches of an entity. The length of the ID keeps apart the IDs that begin with
// another one.
func matchPrefix(entityID string) string { return fmt.Sprintf("match#%d#%s#", len(entityID), entityID) }

func matchKey(tenant, batchID string, ref screening.MatchRef) dynamo.Item {
	return key(tenant, "batch#"+batchID, matchPrefix(ref.EntityID)+ref.MatchID)
}

func marshalMatch(tenant string, m screening.Match) (dynamo.Item, error) {
	ref := screening.MatchRef{EntityID: m.EntityID, MatchID: m.ID}
	body := matchBody{m.ID, m.BatchID, m.EntityID, m.AnswerID, m.AliasIDs, m.UniqueID, m.Data}
	// The limit is that of what the provider says. The aliases of the entity, which the client named, come on top.
	aliases, err := json.Marshal(m.AliasIDs)
	if err != nil {
		return nil, fmt.Errorf("write screening: %w", err)
	}
	item, err := marshal(matchKey(tenant, m.BatchID, ref), body, m.Version, screening.MaxMatchBytes+len(aliases),
		errMatchTooLarge)
	if err != nil {
		return nil, err
	}
	item["resolution"], err = marshalResolution(m.Resolution)
	return item, err
}

func marshalResolution(r screening.Resolution) (types.AttributeValue, error) {
	body, err := json.Marshal(resolutionBody{r.Status, r.Reason, r.Comments, r.Classification, r.ClassificationReviewed,
		(*actionBody)(r.Action)})
	if err == nil && len(body) > screening.MaxResolutionBytes {
		err = errResolutionTooLarge
	}
	return dynamo.Binary(body), err
}

func unmarshalMatch(item dynamo.Item) (screening.Match, error) {
	var body matchBody
	var r resolutionBody
	if err := errors.Join(unmarshal(item, "body", &body), unmarshal(item, "resolution", &r)); err != nil {
		return screening.Match{}, err
	}
	return screening.Match{
		ID: body.ID, BatchID: body.BatchID, EntityID: body.EntityID, AnswerID: body.AnswerID, AliasIDs: body.AliasIDs,
		UniqueID: body.UniqueID, Data: body.Data, Version: dynamo.NumberAttribute(item, "version"),
		Resolution: screening.Resolution{Status: r.Status, Reason: r.Reason, Comments: r.Comments,
			Classification: r.Classification, ClassificationReviewed: r.ClassificationReviewed,
			Action: (*screening.MatchAction)(r.Action)},
	}, nil
}
