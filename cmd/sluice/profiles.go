package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"sluice/internal/command"

	"github.com/spf13/cobra"
)

// profileRecord is a stored profile as it is printed, without its secret.
type profileRecord struct {
	Name     string `json:"name"`
	APIURL   string `json:"api_url"`
	TokenURL string `json:"token_url"`
	Tenant   string `json:"tenant"`
	ClientID string `json:"client_id"`
	// IsUsed means that commands use it unless flags or environment name something else.
	IsUsed bool `json:"is_used"`
	// Error says why the profile cannot be used; "" if it can.
	Error string `json:"error,omitempty"`
}

func profilesCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "profiles", Short: "list the profiles that 'sluice login' has stored",
		Long: `
A line for each profile: its name, the address of the API, the tenant and the client. A star marks the one that commands
use if neither flags nor a local cloud name another service. Secrets are not printed.

--json prints one object a line.`,
		Example: "sluice profiles",
		RunE: command.Run(func(_ context.Context, _ []string, stdout io.Writer) error {
			records, err := listProfiles()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSONLines(stdout, records)
			}
			return printProfiles(stdout, records)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the profiles as JSON, one a line")
	return c
}

// listProfiles returns the stored profiles by name. One that cannot be read is among them, with the reason.
func listProfiles() ([]profileRecord, error) {
	path, err := profilePath(defaultProfile)
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	used := cmp.Or(os.Getenv("SLUICE_PROFILE"), defaultProfile)
	var records []profileRecord
	for _, file := range files {
		name, isProfile := strings.CutSuffix(file.Name(), ".json")
		if !isProfile || !profileName.MatchString(name) {
			continue
		}
		r := profileRecord{Name: name, IsUsed: name == used}
		p, err := readProfile(name)
		if err != nil {
			r.Error = err.Error()
		} else {
			r.APIURL, r.TokenURL, r.Tenant, r.ClientID = p.APIURL, p.TokenURL, p.Tenant, p.ClientID
		}
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b profileRecord) int { return strings.Compare(a.Name, b.Name) })
	return records, nil
}

// completeProfiles completes the names of profiles.
func completeProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	records, _ := listProfiles()
	for _, r := range records {
		names = append(names, cobra.CompletionWithDesc(r.Name, printable(r.APIURL)))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// printProfiles prints a line for each profile.
func printProfiles(stdout io.Writer, records []profileRecord) error {
	if len(records) == 0 {
		_, err := fmt.Fprintln(stdout, "There are no profiles; 'sluice login' makes one.")
		return err
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, r := range records {
		mark := " "
		if r.IsUsed {
			mark = "*"
		}
		if r.Error != "" {
			fmt.Fprintf(table, "%s %s\t%s\n", mark, r.Name, printable(r.Error))
			continue
		}
		fmt.Fprintf(table, "%s %s\t%s\ttenant %s\tclient %s\n", mark, r.Name, printable(r.APIURL), printable(r.Tenant),
			printable(r.ClientID))
	}
	return table.Flush()
}
