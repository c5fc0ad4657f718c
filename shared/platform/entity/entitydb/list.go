package entitydb

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"golang.org/x/sync/errgroup"

	"sluice/shared/access"
	"sluice/shared/kit/dynamo"
	"sluice/shared/platform/entity"
)

// The list of a tenant's entities is rows in the table of records, written in the transaction that writes the entity,
// so that a list has every acknowledged write. They are divided by a hash of the ID among listShards keys, none of
// which has all writes of the tenant. Within a key they are in the order of listPart, which is the order of the whole
// list: a position in the list is a position in each of its shards.

// listShards is the number of keys of a tenant's list. It is stored: it never changes.
const listShards = 16

// maxListedName is the number of bytes of a name that count for the order of the list and for searches.
const maxListedName = 300

func listOwner(tenant string, shard int) string { return fmt.Sprintf("%s#list#%02d", tenant, shard) }

// listShard returns the shard that has an entity.
func listShard(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % listShards)
}

// listPart returns the place of an entity in the list: its name, as names are searched for, a tab and its ID.
func listPart(p entity.Profile) string {
	return searchName(entity.DisplayName(p.Properties)) + "\t" + p.ID
}

// searchName returns a name in lower case, without control characters, and cut to maxListedName bytes.
func searchName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return unicode.ToLower(r)
	}, strings.ToValidUTF8(name, "\uFFFD"))
	if len(name) <= maxListedName {
		return name
	}
	n := maxListedName
	for !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n]
}

// listRow is an entity in the list of the tenant's entities.
type listRow struct {
	Part       string   `dynamodbav:"part"`
	Entity     string   `dynamodbav:"entity"`
	Type       string   `dynamodbav:"type"`
	Name       string   `dynamodbav:"name"`
	Status     string   `dynamodbav:"lifecycle_status"`
	Version    int64    `dynamodbav:"version"`
	Geographic []string `dynamodbav:"geographic"`
	Business   []string `dynamodbav:"business_related"`
}

func listItem(tenant string, p entity.Profile, status entity.LifecycleStatus) dynamo.Item {
	return dynamo.Item{
		"owner":            dynamo.String(listOwner(tenant, listShard(p.ID))),
		"part":             dynamo.String(listPart(p)),
		"entity":           dynamo.String(p.ID),
		"type":             dynamo.String(p.Type),
		"name":             dynamo.String(entity.DisplayName(p.Properties)),
		"lifecycle_status": dynamo.String(string(status)),
		"version":          dynamo.Number(p.Version),
		"geographic":       dynamo.StringList(p.Layers.Geographic),
		"business_related": dynamo.StringList(p.Layers.BusinessRelated),
	}
}

func (r listRow) ref() entity.Ref {
	return entity.Ref{
		ID: r.Entity, Type: r.Type, Name: r.Name, Status: entity.LifecycleStatus(r.Status), Version: r.Version,
		Layers: access.Layers{Geographic: r.Geographic, BusinessRelated: r.Business}, Position: r.Part,
	}
}

// ListEntities implements entity.Store. It reads about twice as many rows as the page has, from all shards at the same
// time.
func (s *Profiles) ListEntities(ctx context.Context, tenant string, p entity.Page) ([]entity.Ref, string, error) {
	limit := min(p.Limit, 2*p.Limit/listShards+4)
	var refs [listShards][]entity.Ref
	var more [listShards]bool
	g, groupCtx := errgroup.WithContext(ctx)
	for shard := range listShards {
		g.Go(func() (err error) {
			refs[shard], more[shard], err = s.listShardPage(groupCtx, listOwner(tenant, shard), p, limit)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, "", fmt.Errorf("list entities: %w", err)
	}
	// The rows after the last one of a shard with more rows are unknown: the page ends there.
	horizon := ""
	for shard, rows := range refs {
		if more[shard] && len(rows) > 0 {
			if last := rows[len(rows)-1].Position; horizon == "" || last < horizon {
				horizon = last
			}
		}
	}
	page := slices.Concat(refs[:]...)
	if horizon != "" {
		page = slices.DeleteFunc(page, func(r entity.Ref) bool { return r.Position > horizon })
	}
	slices.SortFunc(page, func(a, b entity.Ref) int { return cmp.Compare(a.Position, b.Position) })
	if len(page) > p.Limit {
		page = page[:p.Limit]
		horizon = page[p.Limit-1].Position
	}
	return page, horizon, nil
}

// listShardPage reads the part of a page that one shard has, and whether the shard has more rows.
func (s *Profiles) listShardPage(ctx context.Context, owner string, p entity.Page, limit int) ([]entity.Ref, bool,
	error) {
	query := s.table.Select("#owner = :owner", dynamo.Item{":owner": dynamo.String(owner)})
	if prefix := searchName(p.NamePrefix); prefix != "" {
		query = s.table.Begins(owner, prefix)
	}
	query.Limit = aws.Int32(int32(limit))
	if p.After != "" {
		query.ExclusiveStartKey = dynamo.Key(owner, p.After)
	}
	out, err := s.table.DB.Query(ctx, query)
	if err != nil {
		return nil, false, err
	}
	var rows []listRow
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &rows); err != nil {
		return nil, false, err
	}
	refs := make([]entity.Ref, len(rows))
	for i, row := range rows {
		refs[i] = row.ref()
	}
	return refs, out.LastEvaluatedKey != nil, nil
}
