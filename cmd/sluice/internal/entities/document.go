package entities

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
)

func documentCommand() *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "document",
		Short: "upload, list, show and download the documents of entities",
		Example: `
sluice document upload bill.pdf --entity 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11
sluice document download c1f4a6b8-2d3e-4f50-8a61-9b7c8d9e0f13 -o bill.pdf`,
	}, uploadDocumentCommand(), listDocumentsCommand(), showDocumentCommand(), downloadDocumentCommand())
}

// maxDocumentsPage is how many documents one request returns at most.
const maxDocumentsPage = 500

func listDocumentsCommand() *cobra.Command {
	var status string
	var limit int
	c := service.Command(&cobra.Command{
		Use: "list ENTITY", Short: "list the documents of an entity, in the order of their creation",
		Long: `
Each line has the time of creation, the document, its status, its type and the name of its file; --json prints the
service's items, one a line.`,
		Example: "sluice document list 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11 --status Completed",
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		return output.Listing[client.Document]{
			Page: func(ctx context.Context, limit int, token string) ([]client.Document, string, error) {
				return c.Documents(ctx, client.DocumentQuery{EntityID: args[0], Status: status, Limit: limit}, token)
			},
			None:    "No document matches.",
			MaxPage: maxDocumentsPage, Print: printDocuments,
			Record: func(d client.Document) any { return d.Reply },
		}.Run(ctx, limit, asJSON, stdout)
	})
	f := c.Flags()
	f.StringVar(&status, "status", "",
		"only documents with this `STATUS`: Processing, Completed, Error, Infected or Archived")
	f.IntVar(&limit, "limit", 50, "`NUMBER` of documents that are listed at most")
	command.Values(c, "status", "Processing", "Completed", "Error", "Infected", "Archived")
	return c
}

// printDocuments prints a line for each document.
func printDocuments(stdout io.Writer, documents []client.Document) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, d := range documents {
		kind := cmp.Or(d.DocumentType, "-")
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", d.UploadedOn.Format(time.RFC3339), d.ID, d.Status,
			linefile.Printable(kind),
			linefile.Printable(d.FileName))
	}
	return table.Flush()
}

func showDocumentCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use: "show DOCUMENT", Short: "show a document, and what its scan has found",
		Long: `
--json prints the data of the service's reply. The exit code is 1 if the file is of no use: the status is Error or
Infected.`,
		Example: "sluice document show c1f4a6b8-2d3e-4f50-8a61-9b7c8d9e0f13",
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		d, err := c.Document(ctx, args[0])
		if err != nil {
			return err
		}
		return printDocument(stdout, d, asJSON)
	})
}

// printDocument prints a document for people, or the service's reply. The error is command.Rejected if its file is of
// no use.
func printDocument(stdout io.Writer, d client.Document, asJSON bool) error {
	var err error
	if asJSON {
		err = output.PrintReply(stdout, d.Reply)
	} else {
		f := output.NewFacts(stdout)
		f.Add("document", d.ID)
		f.Add("status", d.Status)
		f.Add("because", documentReason(d))
		f.Add("file", d.FileName)
		f.Add("address", d.DocumentURL)
		f.Add("name", d.FriendlyName)
		f.Add("type", d.DocumentType)
		f.Add("entity", d.EntityID)
		f.Add("journey", d.JourneyID)
		f.Add("created", d.UploadedOn.Format(time.RFC3339))
		f.Add("created by", d.UploadedByUserName)
		f.Add("archived", d.ArchivalReason)
		if !d.HasRequiredAccessLayers {
			f.Add("hidden", "the access layers of this client do not reach the document")
		}
		err = f.Print()
	}
	if err == nil && (d.Status == client.DocumentError || d.Status == client.DocumentInfected) {
		return command.Rejected
	}
	return err
}

// documentReason says why a file is of no use; "" if it is not.
func documentReason(d client.Document) string {
	var parts []string
	for _, text := range []string{d.ErrorCode, d.ErrorMessage, d.Explanation} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ": ")
}

func downloadDocumentCommand() *cobra.Command {
	var conn service.Connection
	var path string
	c := &cobra.Command{
		Use: "download DOCUMENT", Short: "download the file of a document",
		Long: `
There is a file once it is scanned and found clean. FILE is opened before anything is asked for; if the download breaks
off, it is removed.`,
		Example: "sluice document download c1f4a6b8-2d3e-4f50-8a61-9b7c8d9e0f13 -o bill.pdf",
		RunE: command.Run(func(ctx context.Context, args []string, stdout io.Writer) error {
			if path == "" {
				return command.Usagef("-o FILE is needed")
			}
			c, err := conn.NewClient(ctx)
			if err != nil {
				return err
			}
			out, err := files.OpenOutput(path, "the file", stdout)
			if err != nil {
				return err
			}
			defer out.Discard()
			size, err := downloadDocument(ctx, c, args[0], out)
			if err == nil && !out.IsStdout() {
				_, err = fmt.Fprintf(stdout, "%s: %s\n", linefile.Printable(path), terminal.FormatBytes(size))
			}
			return err
		}),
	}
	f := c.Flags()
	f.StringVarP(&path, "output", "o", "", "`FILE` to write, required; - is standard output")
	conn.AddFlags(c)
	return c
}

// downloadDocument stores the file of a document, and returns its size.
func downloadDocument(ctx context.Context, c *client.Client, id string, out *files.Output) (int64, error) {
	file, err := c.OpenDocument(ctx, id)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	size, err := io.Copy(out, file)
	if err == nil {
		err = out.Finish()
	}
	return size, err
}
