package batchdb

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// namesPrefix begins the parts of the items with the results of screening the names of partitions.
const namesPrefix = "names#"

func namesPart(partition int) string { return fmt.Sprintf("%s%02d", namesPrefix, partition) }

// CommitScreened commits the result of screening a partition.
func (s *Store) CommitScreened(ctx context.Context, id batch.ID, partition int,
	r batch.ScreenResult) (batch.ScreenResult, error) {
	row, err := commit(ctx, s, key(id, namesPart(partition)), "screened", newScreenedRow(r))
	return row.result(), err
}

// Screened returns the committed results of all partitions.
func (s *Store) Screened(ctx context.Context, id batch.ID) ([batch.Partitions]*batch.ScreenResult, error) {
	var results [batch.Partitions]*batch.ScreenResult
	err := s.eachPart(ctx, id, namesPrefix, func(item dynamo.Item) error {
		part := dynamo.StringAttribute(item, "part")
		p, err := strconv.Atoi(part[len(namesPrefix):])
		if err != nil || p < 0 || p >= len(results) {
			return fmt.Errorf("read partition row %q of batch %s", part, id)
		}
		var row struct {
			Screened *screenedRow `dynamodbav:"screened"`
		}
		if err := attributevalue.UnmarshalMap(item, &row); err != nil {
			return fmt.Errorf("read partition row %q of batch %s: %w", part, id, err)
		}
		if row.Screened != nil {
			r := row.Screened.result()
			results[p] = &r
		}
		return nil
	})
	return results, err
}

// screenedRow is the map of a screened partition.
type screenedRow struct {
	Names   int64  `dynamodbav:"names"`
	HitsKey string `dynamodbav:"hits,omitempty"`

	HitsSections []byte `dynamodbav:"sections,omitempty"`
}

func newScreenedRow(r batch.ScreenResult) screenedRow {
	return screenedRow{Names: r.Names, HitsKey: r.HitsKey, HitsSections: sectionsAttribute(r.HitsSections)}
}

func (r screenedRow) result() batch.ScreenResult {
	return batch.ScreenResult{Names: r.Names, HitsKey: r.HitsKey, HitsSections: string(r.HitsSections)}
}

// screeningRow is how the names of a batch are screened, without the versions of the lists.
type screeningRow struct {
	Lists     []string `dynamodbav:"lists"`
	Threshold float64  `dynamodbav:"threshold"`
	Reject    bool     `dynamodbav:"reject,omitempty"`
}

// listVersionRow is a pinned version of a list.
type listVersionRow struct {
	Owner      string `dynamodbav:"owner"`
	List       string `dynamodbav:"list"`
	Version    string `dynamodbav:"version"`
	SourceDate string `dynamodbav:"source_date,omitempty"`
}

func newScreeningRow(s *batch.Screening) *screeningRow {
	if s == nil {
		return nil
	}
	return &screeningRow{s.Lists, s.Threshold, s.Reject}
}

func newListVersionRows(versions []batch.ListVersion) []listVersionRow {
	var rows []listVersionRow
	for _, v := range versions {
		row := listVersionRow{Owner: v.Owner, List: v.List, Version: v.Version}
		if !v.SourceDate.IsZero() {
			row.SourceDate = v.SourceDate.UTC().Format(time.RFC3339)
		}
		rows = append(rows, row)
	}
	return rows
}

// screening returns how the names of a batch are screened, nil if they are not.
func (r *screeningRow) screening(versions []listVersionRow) (*batch.Screening, error) {
	if r == nil {
		return nil, nil
	}
	s := &batch.Screening{Lists: r.Lists, Threshold: r.Threshold, Reject: r.Reject}
	for _, row := range versions {
		v := batch.ListVersion{Owner: row.Owner, List: row.List, Version: row.Version}
		if row.SourceDate != "" {
			var err error
			if v.SourceDate, err = time.Parse(time.RFC3339, row.SourceDate); err != nil {
				return nil, fmt.Errorf("read the date of list %s: %w", row.List, err)
			}
		}
		s.Versions = append(s.Versions, v)
	}
	return s, nil
}

// screeningVerdictRow is the result of the screening of a batch.
type screeningVerdictRow struct {
	Names           int64  `dynamodbav:"names"`
	Hits            int64  `dynamodbav:"hits"`
	AlertsKey       string `dynamodbav:"alerts,omitempty"`
	AlertsShortened bool   `dynamodbav:"alerts_shortened,omitempty"`
}
