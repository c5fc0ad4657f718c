package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"sluice/client"
	"sluice/internal/command"
	"sluice/shared/platform/entity"

	"github.com/spf13/cobra"
)

func entityCommand() *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "entity",
		Short: "list and show the entities that lines can name",
		Example: `
sluice entity list --name acme --status Compliant
sluice entity show 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11`,
	}, listEntitiesCommand(), showEntityCommand())
}

// maxEntitiesPage is how many entities one request returns at most.
const maxEntitiesPage = 500

func listEntitiesCommand() *cobra.Command {
	var q client.EntityQuery
	var limit int
	c := serviceCommand(&cobra.Command{
		Use: "list", Short: "list entities, in the order of their names",
		Long: `
Each line has the entity, its status, its type and its name; --json prints the service's items, one a line. Entities
that the client's access layers do not reach are left out.`,
		Example: `
sluice entity list --name acme
sluice entity list --status Compliant --limit 1000 --json`,
	}, func(ctx context.Context, c *client.Client, _ []string, asJSON bool, stdout io.Writer) error {
		return listing[client.ListedEntity]{
			page: func(ctx context.Context, limit int, token string) ([]client.ListedEntity, string, error) {
				q.Limit = limit
				return c.Entities(ctx, q, token)
			},
			none:    "No entity matches.",
			maxPage: maxEntitiesPage, print: printEntities,
			record: func(e client.ListedEntity) any { return e.Reply },
		}.run(ctx, limit, asJSON, stdout)
	})
	f := c.Flags()
	f.StringVar(&q.NamePrefix, "name", "", "only entities whose name begins with `PREFIX`, in any case")
	f.StringVar(&q.Status, "status", "", "only entities with this `STATUS`, such as Compliant")
	f.IntVar(&limit, "limit", 50, "`NUMBER` of entities that are listed at most")
	command.Values(c, "status", strings.Split(entity.StatusNames(), ", ")...)
	return c
}

// repliesOf returns what the items of a list were decoded from.
func repliesOf[T any](items []T, reply func(T) json.RawMessage) []json.RawMessage {
	replies := make([]json.RawMessage, len(items))
	for i, item := range items {
		replies[i] = reply(item)
	}
	return replies
}

// printEntities prints a line for each entity.
func printEntities(stdout io.Writer, entities []client.ListedEntity) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, e := range entities {
		kind := e.Type
		if kind == "" {
			kind = "-"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", printable(e.ID), e.LifecycleStatus, kind, printable(e.Name))
	}
	return table.Flush()
}

func showEntityCommand() *cobra.Command {
	return serviceCommand(&cobra.Command{
		Use: "show ENTITY", Short: "show an entity with its verified properties",
		Long: `
ENTITY is the ID with which lines name it. --json prints the data of the service's reply.`,
		Example: "sluice entity show 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11",
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		e, err := c.Entity(ctx, args[0])
		switch {
		case err != nil:
			return err
		case asJSON:
			return printReply(stdout, e.Reply)
		}
		return printEntity(stdout, e)
	})
}

// printEntity prints an entity for people.
func printEntity(stdout io.Writer, e client.Entity) error {
	f := newFacts(stdout)
	f.add("entity", e.ID)
	f.add("status", e.LifecycleStatus)
	f.add("type", e.Type)
	f.add("role", e.Role)
	f.add("alternate ID", e.AlternateID)
	if e.Risk != nil {
		f.add("risk", e.Risk.Level+" ("+e.Risk.Category+")")
	}
	f.addTime("created", e.Created)
	f.addTime("deleted", e.Deleted)
	f.add("access layers", strings.Join(slices.Concat(e.AccessLayers.Geographic, e.AccessLayers.BusinessRelated), ", "))
	f.add("jurisdictions", strings.Join(e.InScopeJurisdictions, ", "))
	f.add("offboarded from", strings.Join(e.OffboardedJurisdictions, ", "))
	f.add("version", fmt.Sprint(e.Version))
	f.add("masked", strings.Join(e.MaskedProperties, ", "))
	if err := f.print(); err != nil || len(e.Properties) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(stdout, "\nProperties:"); err != nil {
		return err
	}
	f = newFacts(stdout)
	for _, name := range slices.Sorted(maps.Keys(e.Properties)) {
		f.add("  "+name, propertyText(e.Properties[name]))
	}
	return f.print()
}

// propertyText writes the value of a property: the text of a single one, and the JSON of any other.
func propertyText(property json.RawMessage) string {
	var single struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	value := property
	if json.Unmarshal(property, &single) == nil && single.Type == "Single" && len(single.Value) > 0 {
		value = single.Value
	}
	var text string
	if json.Unmarshal(value, &text) == nil && text != "" {
		return text
	}
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return string(value)
	}
	return out.String()
}
