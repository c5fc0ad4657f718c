package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"sluice/client"
	"sluice/client/clienttest"
)

// Upload a batch, follow it to its end and read a transaction back.
func Example() {
	server := clienttest.New() // stands in for the service
	defer server.Close()
	ctx := context.Background()

	c, err := client.New(client.Config{
		APIURL:       server.URL,
		TokenURL:     server.URL + "/oauth2/token",
		ClientID:     clienttest.ClientID,
		ClientSecret: clienttest.ClientSecret,
		Scope:        clienttest.Scope,
	})
	if err != nil {
		log.Fatal(err)
	}
	upload, err := c.CreateUpload(ctx, true)
	if err != nil {
		log.Fatal(err)
	}
	batch := `{"transaction_external_id":"t-1","modification":{"external_id":"m-1"}}` + "\n"
	if err := c.UploadFile(ctx, upload, strings.NewReader(batch), int64(len(batch)), nil); err != nil {
		log.Fatal(err)
	}
	last, err := c.Follow(ctx, upload.BatchID, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(last.Status, *last.Counts.Ingested)

	transaction, err := c.Transaction(ctx, "t-1")
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range transaction.Modifications {
		fmt.Printf("line %d: %s\n", *m.Line, m.Transaction)
	}
	// Output:
	// PROCESSED 1
	// line 1: {"transaction_external_id":"t-1","modification":{"external_id":"m-1"}}
}

// Upload a file from disk, counting what was sent.
func ExampleClient_UploadFile() {
	server, c := exampleClient()
	defer server.Close()
	ctx := context.Background()

	upload, err := c.CreateUpload(ctx, true)
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Open("testdata/batch.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	var sent atomic.Int64 // the callback runs in another goroutine
	err = c.UploadFile(ctx, upload, file, info.Size(), sent.Store)
	switch {
	case errors.Is(err, client.ErrTooLarge):
		fmt.Println("split the file into several batches")
	case err != nil:
		log.Fatal(err)
	}
	fmt.Println("sent", sent.Load(), "bytes")
	// Output:
	// sent 142 bytes
}

// Have a batch validated without storing anything of it.
func ExampleClient_CreateUploadWith() {
	server, c := exampleClient()
	defer server.Close()
	ctx := context.Background()

	upload, err := c.CreateUploadWith(ctx, client.UploadOptions{
		ValidateOnly: true, MaxRejected: &client.RejectLimit{Share: "50%"}, // half of the transactions may be invalid
		Name: "November, part 2", Metadata: map[string]string{"region": "north"},
	})
	if err != nil {
		log.Fatal(err)
	}
	batch := `{"transaction_external_id":"t-1","modification":{"external_id":"m-1"}}` + "\nnonsense\n"
	if err := c.UploadFile(ctx, upload, strings.NewReader(batch), int64(len(batch)), nil); err != nil {
		log.Fatal(err)
	}
	last, err := c.Follow(ctx, upload.BatchID, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(*last.Name, last.Status, *last.Counts.Accepted, "accepted,", *last.Counts.Ingested, "stored")
	// Output:
	// November, part 2 PROCESSED 1 accepted, 0 stored
}

// Follow a batch with a pace of one's own and print each status once.
func ExampleClient_Follow() {
	server, c := exampleClient()
	defer server.Close()
	ctx := context.Background()
	batchID := exampleBatch(ctx, c, true, `{"transaction_external_id":"t-1","modification":{"external_id":"m-1"}}`)

	pace := func(int) time.Duration { return 10 * time.Millisecond }
	_, err := c.Follow(ctx, batchID, pace, func(s client.Status) {
		if s.Status == "" {
			fmt.Println(s.Message)
		} else {
			fmt.Println(s.Status)
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// Batch not yet processed.
	// VALIDATION_STARTED
	// PENDING_INGESTION
	// INITIALIZED
	// IN_PROGRESS
	// PROCESSED
}

// Read what is wrong with each invalid line.
func ExampleClient_OpenReport() {
	server, c := exampleClient()
	defer server.Close()
	ctx := context.Background()
	batchID := exampleBatch(ctx, c, true,
		`{"transaction_external_id":"t-1","modification":{"external_id":"m-1"}}`, `{"transaction_external_id":"t-2",}`)

	pace := func(int) time.Duration { return 10 * time.Millisecond }
	last, err := c.Follow(ctx, batchID, pace, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(last.Status, last.ErrorMessage)
	result, err := c.ValidationResult(ctx, batchID)
	if err != nil {
		log.Fatal(err)
	}
	report, err := c.OpenReport(ctx, result.ErrorsFileURL)
	if err != nil {
		log.Fatal(err)
	}
	defer report.Close()
	for lines := json.NewDecoder(report); lines.More(); {
		var line client.ReportLine
		if err := lines.Decode(&line); err != nil {
			log.Fatal(err)
		}
		for _, e := range line.Errors {
			fmt.Printf("line %d, byte %d of the file: %s: %s\n", line.Line, e.Offset, e.Type, e.Msg)
		}
	}
	// Output:
	// VALIDATION_FAILED 1 of 2 transactions is invalid.
	// line 2, byte 104 of the file: json_invalid: The line is not valid JSON.
}

// Tell refusals apart by their types.
func ExampleError() {
	server, c := exampleClient()
	defer server.Close()

	_, err := c.Status(context.Background(), "01980000-0000-7000-8000-000000000042")
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused.Message)
	}
	// Output:
	// 404 Batch not found.
}

// exampleClient starts a server and returns a client of it.
func exampleClient() (*clienttest.Server, *client.Client) {
	server := clienttest.New()
	c, err := client.New(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	return server, c
}

// exampleBatch uploads lines as a new batch and returns its ID.
func exampleBatch(ctx context.Context, c *client.Client, rejectOnInvalid bool, lines ...string) string {
	upload, err := c.CreateUpload(ctx, rejectOnInvalid)
	if err != nil {
		log.Fatal(err)
	}
	text := strings.Join(lines, "\n") + "\n"
	if err := c.UploadFile(ctx, upload, strings.NewReader(text), int64(len(text)), nil); err != nil {
		log.Fatal(err)
	}
	return upload.BatchID
}
