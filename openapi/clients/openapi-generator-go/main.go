//go:build ignore

// Command batch uploads a batch with the generated client and waits until it is stored.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	sluice "example.com/sluice/client"
)

func main() {
	config := sluice.NewConfiguration()
	config.Servers = sluice.ServerConfigurations{{URL: os.Getenv("API_URL")}}
	api, ctx := sluice.NewAPIClient(config), context.Background()
	token, _, err := api.TokensAPI.IssueToken(ctx).GrantType("client_credentials").ClientId(os.Getenv("CLIENT_ID")).
		ClientSecret(os.Getenv("CLIENT_SECRET")).Scope(os.Getenv("SCOPE")).Execute()
	check(err)
	config.AddDefaultHeader("Authorization", "Bearer "+token.AccessToken)

	request := sluice.NewUploadRequest()
	request.SetRejectOnInvalid(true)
	upload, _, err := api.BatchesAPI.GenerateUploadUrl(ctx).UploadRequest(*request).Execute()
	check(err)
	put(upload.GetUrl(), upload.GetRequiredHeaders())

	for range 120 {
		status, reply, err := api.BatchesAPI.ReadBatchStatus(ctx, upload.BatchId).Execute()
		if reply == nil || reply.StatusCode != http.StatusAccepted { // 202: the batch has no status yet
			check(err)
			switch status.Status {
			case "PROCESSED":
				fmt.Println("PROCESSED", *status.Counts.Ingested.Get())
				return
			case "ERROR", "VALIDATION_FAILED":
				log.Fatal(status.ErrorMessage)
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
	log.Fatal("the batch has not ended after a minute")
}

// put sends the file.
func put(url string, header map[string]string) {
	file, err := os.Open(os.Getenv("BATCH"))
	check(err)
	info, err := file.Stat()
	check(err)
	request, err := http.NewRequest("PUT", url, file)
	check(err)
	request.ContentLength = info.Size()
	for name, value := range header {
		request.Header.Set(name, value)
	}
	reply, err := http.DefaultClient.Do(request)
	check(err)
	if reply.StatusCode != http.StatusOK {
		log.Fatal("the upload answers ", reply.Status)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
