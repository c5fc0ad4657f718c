"""run.py [COMMAND...]: runs a command with LocalStack at AWS_ENDPOINT_URL, and SAM CLI of bin/tools/sam; without a command, waits for Ctrl-C.

If AWS_ENDPOINT_URL is set, it is a LocalStack that runs already. Otherwise this starts the one of bin/tools/localstack (serve.py) and stops it
when the command ends, also by Ctrl-C. What it prints is in bin/tools/localstack.log.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "bin/tools/localstack.log"
ADDRESS = "http://127.0.0.1:4566"


def fail(message):
    sys.exit(f"make test-localstack: {message}")


def answers(address):
    try:
        return urllib.request.urlopen(address + "/_localstack/health", timeout=5).status == 200
    except (urllib.error.URLError, OSError, ValueError):
        return False


def start(folder):
    command = [sys.executable, Path(__file__).with_name("serve.py"), ROOT / "bin/dynoxide", folder]
    with open(LOG, "wb") as log:
        # A session of its own: Ctrl-C is for the command, and LocalStack ends after it.
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    for _ in range(600):
        if answers(ADDRESS):
            return server
        if server.poll() is not None:
            break
        time.sleep(0.1)
    stop(server)
    fail("LocalStack does not start; the end of bin/tools/localstack.log:\n" + "\n".join(LOG.read_text(errors="replace").splitlines()[-12:]))


def stop(server):
    """Ends LocalStack, and what it has started if it does not end by itself."""
    server.terminate()
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(server.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(command, address):
    if not command:
        print(f"LocalStack is at {address}. Ctrl-C ends it.", flush=True)
        signal.pause()
    environment = os.environ | {"AWS_ENDPOINT_URL": address, "PATH": f"{ROOT}/bin/tools/sam/bin:{os.environ['PATH']}"}
    return subprocess.run(command, env=environment, check=False).returncode


def main():
    # Terminated, it cleans up as after Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    command, address = sys.argv[1:], os.environ.get("AWS_ENDPOINT_URL", "").rstrip("/")
    if address:
        if not answers(address):
            fail(f"no LocalStack answers at AWS_ENDPOINT_URL ({address}): start it, or unset the variable.")
        return run(command, address)
    if answers(ADDRESS):
        fail(f"something answers at {ADDRESS} already: stop it, or set AWS_ENDPOINT_URL to it if it is a LocalStack to be used.")
    with tempfile.TemporaryDirectory(prefix="sluice-localstack.") as folder:
        server = start(folder)
        try:
            return run(command, ADDRESS)
        except KeyboardInterrupt:
            return 130
        finally:
            stop(server)


if __name__ == "__main__":
    sys.exit(main())
