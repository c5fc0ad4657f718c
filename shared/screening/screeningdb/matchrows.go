package screeningdb

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening"
)

// matchPrefix begins the parts of the matches of an entity. The length of the ID keeps apart the IDs that begin with
// another one.
func matchPrefix(entityID string) string { return fmt.Sprintf("match#%d#%s#", len(entityID), entityID) }

func matchKey(tenant, batchID string, ref screening.MatchRef) dynamo.Item {
	return key(tenant, "batch#"+batchID, matchPrefix(ref.EntityID)+ref.MatchID)
}

func marshalMatch(tenant string, m screening.Match) (dynamo.Item, error) {
	ref := screening.MatchRef{EntityID: m.EntityID, MatchID: m.ID}
	// The limit is for the provider's data. The aliases of the entity, which the client named, come on top.
	aliases, err := json.Marshal(m.AliasIDs)
	if err != nil {
		return nil, fmt.Errorf("write screening: %w", err)
	}
	item, err := marshal(matchKey(tenant, m.BatchID, ref), m, m.Version, screening.MaxMatchBytes+len(aliases),
		errMatchTooLarge)
	if err != nil {
		return nil, err
	}
	item["resolution"], err = marshalResolution(m.Resolution)
	return item, err
}

func marshalResolution(r screening.Resolution) (types.AttributeValue, error) {
	body, err := json.Marshal(r)
	if err == nil && len(body) > screening.MaxResolutionBytes {
		err = errResolutionTooLarge
	}
	return dynamo.Binary(body), err
}

func unmarshalMatch(item dynamo.Item) (screening.Match, error) {
	m, err := unmarshalBody[screening.Match](item)
	m.Version = dynamo.NumberAttribute(item, "version")
	return m, errors.Join(err, unmarshal(item, "resolution", &m.Resolution))
}
