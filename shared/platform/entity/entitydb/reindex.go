package entitydb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"sluice/shared/kit/dynamo"
	"sluice/shared/platform/entity"
)

// reindexPage is how many rows of the table of statuses are read at a time.
const reindexPage = 2000

// Reindex brings a part of a tenant's entities into the list as they are: those that earlier releases wrote without it,
// and those whose row in the list does not agree with them. An entity with only an imported status gets a profile, as a
// new import would give it. After is the position that the previous call returned, "" to begin with; next is "" at the
// end. Repeating a call is safe, also while entities change: each is written on the condition that it is as it was
// read.
func (s *Profiles) Reindex(ctx context.Context, tenant, after string, o entity.ImportOptions) (
	counts entity.Reindexed, next string, err error) {
	scan := &dynamodb.ScanInput{
		TableName: &s.statusTable.Name, ConsistentRead: aws.Bool(true), Limit: aws.Int32(reindexPage),
		FilterExpression:          aws.String("begins_with(#entity, :tenant)"),
		ProjectionExpression:      aws.String("#entity"),
		ExpressionAttributeNames:  map[string]string{"#entity": "entity"},
		ExpressionAttributeValues: dynamo.Item{":tenant": dynamo.String(tenant + "#")},
	}
	if after != "" {
		scan.ExclusiveStartKey = dynamo.Item{"entity": dynamo.String(after)}
	}
	out, err := s.table.DB.Scan(ctx, scan)
	if err != nil {
		return counts, after, fmt.Errorf("reindex entities: %w", err)
	}
	ids := make([]string, len(out.Items))
	for i, item := range out.Items {
		ids[i] = strings.TrimPrefix(dynamo.StringAttribute(item, "entity"), tenant+"#")
	}
	groups := make([]entity.Reindexed, (len(ids)+importTogether-1)/importTogether)
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(importGroups)
	for i := range groups {
		g.Go(func() (err error) {
			group := ids[i*importTogether : min((i+1)*importTogether, len(ids))]
			groups[i], err = s.reindexGroup(groupCtx, tenant, group, o)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return counts, after, err
	}
	for _, group := range groups {
		counts.Add(group)
	}
	return counts, dynamo.StringAttribute(out.LastEvaluatedKey, "entity"), nil
}

// reindexGroup lists entities. Entities that others change between reading and writing are read again.
func (s *Profiles) reindexGroup(ctx context.Context, tenant string, ids []string, o entity.ImportOptions) (
	entity.Reindexed, error) {
	counts := entity.Reindexed{Inspected: len(ids)}
	for range importAttempts {
		plan, err := s.planReindex(ctx, tenant, ids, o)
		if err != nil {
			return counts, err
		}
		changed, err := s.writeImport(ctx, plan)
		if err != nil {
			return counts, err
		}
		counts.Listed += len(plan) - len(changed)
		if len(changed) == 0 {
			return counts, nil
		}
		again := make([]string, len(changed))
		for i, entry := range changed {
			again[i] = ids[entry]
		}
		ids = again
	}
	return counts, fmt.Errorf("reindex entity %q: %w", ids[0], errImportBusy)
}

// planReindex reads entities and returns the writes that bring the list up to date with them.
func (s *Profiles) planReindex(ctx context.Context, tenant string, ids []string, o entity.ImportOptions) (
	[]importWrite, error) {
	found, err := s.statuses().find(ctx, tenant, ids, profileAttribute)
	if err != nil {
		return nil, err
	}
	profiles, err := s.findProfiles(ctx, tenant, found)
	if err != nil {
		return nil, err
	}
	listed, err := s.listedVersions(ctx, tenant, profiles)
	if err != nil {
		return nil, err
	}
	var plan []importWrite
	for i, id := range ids {
		status := found[id]
		if status.ID != id {
			continue // deleted by now, or another row of the same entity counts
		}
		p, exists := profiles[id]
		if !exists {
			p, _ = entity.Import{ID: id, Status: status.LifecycleStatus}.
				Apply(entity.Profile{ID: id, BaseStatus: status.LifecycleStatus}, status.LifecycleStatus, o)
		} else if listed[id] == (listedVersion{p.Version, status.LifecycleStatus}) {
			continue
		} else {
			p.Revision++
		}
		writes, err := s.entityWrites(tenant, p, status.LifecycleStatus, status.LifecycleStatus)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("reindex entity %q", id), err)
		}
		plan = append(plan, newImportWrite(i, writes))
	}
	return plan, nil
}

// listedVersion has the values of an entity in the list that can be out of date.
type listedVersion struct {
	version int64
	status  entity.LifecycleStatus
}

// listedVersions reads the rows in the list of the entities with the given profiles, by ID.
func (s *Profiles) listedVersions(ctx context.Context, tenant string, profiles map[string]entity.Profile) (
	map[string]listedVersion, error) {
	var keys []dynamo.Item
	for id, p := range profiles {
		if p.ListedAs != "" && p.ListedAs == listPart(p) {
			keys = append(keys, dynamo.Key(listOwner(tenant, listShard(id)), p.ListedAs))
		}
	}
	rows, err := s.table.GetAll(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("reindex entities: %w", err)
	}
	listed := make(map[string]listedVersion, len(rows))
	for _, row := range rows {
		listed[dynamo.StringAttribute(row, "entity")] = listedVersion{
			dynamo.NumberAttribute(row, "version"), entity.LifecycleStatus(
				dynamo.StringAttribute(row, "lifecycle_status")),
		}
	}
	return listed, nil
}
