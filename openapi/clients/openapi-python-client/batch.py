"""Uploads a batch with the generated client and waits until it is stored."""

import os
import time
import uuid

import httpx
from sluice_client import AuthenticatedClient, Client
from sluice_client.api.batches import generate_upload_url, read_batch_status
from sluice_client.api.tokens import issue_token
from sluice_client.models import BatchStatus, TokenRequest, UploadRequest

api_url = os.environ["API_URL"]
token = issue_token.sync(
    client=Client(api_url),
    body=TokenRequest(
        grant_type="client_credentials",
        client_id=uuid.UUID(os.environ["CLIENT_ID"]),
        client_secret=os.environ["CLIENT_SECRET"],
        scope=os.environ["SCOPE"],
    ),
)
api = AuthenticatedClient(api_url, token=token.access_token)

upload = generate_upload_url.sync(client=api, body=UploadRequest(reject_on_invalid=True))
with open(os.environ["BATCH"], "rb") as file:
    httpx.put(
        upload.url, content=file.read(), headers=upload.required_headers.to_dict()
    ).raise_for_status()

for _ in range(120):
    status = read_batch_status.sync(upload.batch_id, client=api)
    if isinstance(status, BatchStatus):  # BatchPending: the batch has no status yet
        if status.status == "PROCESSED":
            print("PROCESSED", status.counts.ingested)
            break
        if status.status in ("ERROR", "VALIDATION_FAILED"):
            raise SystemExit(status.error_message)
    time.sleep(0.5)
else:
    raise SystemExit("the batch has not ended after a minute")
