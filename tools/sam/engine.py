"""engine.py COMMAND...: runs a command that may use a container engine, and SAM CLI of bin/tools/sam.

An engine that answers already (docker info) is used as it is; SAM CLI then pulls the images that it wants. Otherwise this starts Debian's
docker.io from below bin/tools/engine, on a socket of its own and without touching the machine's firewall, and stops it with all of its
containers when the command ends, also by Ctrl-C. Nothing is installed outside bin/. No image is pulled for it: functions are static programs,
and SAM's own emulator of the Lambda runtime, in an image without anything else, is enough to run them. It needs root, and apt.
"""

import io
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import docker
import samcli.local.rapid

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "bin/tools/engine"
ARCHITECTURES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
# The image that SAM CLI makes of the one it pulls; with --skip-pull-image it takes one of this name as it is.
IMAGE = "public.ecr.aws/lambda/provided"


def fail(message):
    sys.exit(f"make test-sam: {message}")


def packages():
    """Downloads docker.io and what it depends on and this machine lacks, and unpacks it; apt checks its signatures. Returns the folder."""
    unpacked = FOLDER / "packages"
    if (FOLDER / "installed").exists():
        return unpacked
    if not shutil.which("apt-get"):
        fail("no container engine answers (docker info), and without apt-get none can be installed: install and start Docker.")
    archives = FOLDER / "archives"
    shutil.rmtree(FOLDER, ignore_errors=True)
    (archives / "partial").mkdir(parents=True)
    print("Installing docker.io from Debian into bin/tools/engine.", flush=True)
    options = ["-qq", "-o", f"Dir::Cache::archives={archives}", "-o", "Debug::NoLocking=1"]
    download = ["apt-get", *options, "install", "--download-only", "--yes", "--no-install-recommends", "docker.io", "iptables"]
    if subprocess.run(download, capture_output=True, check=False).returncode:
        subprocess.run(["apt-get", *options, "update"], check=True)
        subprocess.run(download, check=True, stdout=subprocess.DEVNULL)
    for package in sorted(archives.glob("*.deb")):
        subprocess.run(["dpkg", "--extract", package, unpacked], check=True)
    (FOLDER / "installed").touch()
    return unpacked


class Engine:
    """A dockerd that ends with this process."""

    def __init__(self):
        if os.geteuid() != 0:
            fail("no container engine answers (docker info), and only root can start one: start Docker, or run this as root.")
        unpacked = packages()
        self.runtime = Path(tempfile.mkdtemp(prefix="sluice-engine."))  # addresses of sockets have at most 107 bytes
        self.host = f"unix://{self.runtime}/docker.sock"
        folders = [unpacked / f for f in ("usr/sbin", "usr/bin", "sbin", "usr/libexec/docker")]
        libraries = [unpacked / f / f"{platform.machine()}-linux-gnu" for f in ("usr/lib", "lib")]
        environment = os.environ | {
            "PATH": ":".join([*map(str, folders), os.environ["PATH"], "/usr/sbin:/sbin"]),
            "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        }
        environment.pop("DOCKER_HOST", None)
        self.log = open(FOLDER / "dockerd.log", "wb")
        command = ["dockerd", f"--host={self.host}", f"--data-root={FOLDER}/data", f"--exec-root={self.runtime}/exec"]
        command += [f"--pidfile={self.runtime}/docker.pid", "--iptables=false", "--ip6tables=false"]
        program = shutil.which("dockerd", path=environment["PATH"])
        self.process = subprocess.Popen(
            command, executable=program, env=environment, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True
        )

    def wait_until_it_answers(self):
        for _ in range(300):
            try:
                return docker.DockerClient(base_url=self.host)
            except docker.errors.DockerException:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        lines = Path(self.log.name).read_text(errors="replace").splitlines()
        fail("the container engine does not start; the end of bin/tools/engine/dockerd.log:\n" + "\n".join(lines[-12:]))

    def stop(self):
        """Stops the engine, which stops its containers first."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
        shutil.rmtree(self.runtime, ignore_errors=True)


def make_image(client, architecture):
    """Makes the image of SAM's emulator of the Lambda runtime, unless the engine has it."""
    tag = f"al2023-rapid-{architecture}"
    if client.images.list(name=f"{IMAGE}:{tag}"):
        return
    emulator = Path(samcli.local.rapid.__path__[0], f"aws-lambda-rie-{architecture}")
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name, mode in (("var/task", 0o755), ("var/runtime", 0o755), ("opt", 0o755), ("tmp", 0o1777)):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            tar.addfile(folder)
        program = tar.gettarinfo(emulator, "var/rapid/aws-lambda-rie")
        program.mode, program.uid, program.gid = 0o755, 0, 0
        with open(emulator, "rb") as f:
            tar.addfile(program, f)
    client.api.import_image_from_data(content.getvalue(), repository=IMAGE, tag=tag)


def answers():
    try:
        docker.from_env()
        return True
    except docker.errors.DockerException:
        return False


def main():
    # Terminated, it cleans up as after Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    architecture = ARCHITECTURES.get(platform.machine())
    if platform.system() != "Linux" or not architecture:
        fail(f"Lambda has no functions for {platform.system()} on {platform.machine()}, so this machine cannot run them.")
    os.environ["PATH"] = f"{ROOT}/bin/tools/sam/bin:{os.environ['PATH']}"
    if answers():
        return subprocess.run(sys.argv[1:], check=False).returncode
    engine = Engine()
    try:
        make_image(engine.wait_until_it_answers(), architecture)
        os.environ |= {"DOCKER_HOST": engine.host, "SAM_SKIP_PULL_IMAGE": "true"}
        return subprocess.run(sys.argv[1:], check=False).returncode
    except KeyboardInterrupt:
        return 130
    finally:
        engine.stop()


if __name__ == "__main__":
    sys.exit(main())
