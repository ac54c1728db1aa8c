# The images of a release: `make images` (docs/releasing.md). Each is built for two platforms, with an SBOM and its
# provenance. The same commit gives the same layers: the lockfile fixes the packages, NODE the base image, and
# SOURCE_DATE_EPOCH, which make sets to the time of the commit, every time stamp.

variable "VERSION" {}
variable "REVISION" {}
variable "REGISTRY" {
  default = "registry.example.com/switchhook"
}
# For an exact rebuild: node@sha256:…
variable "NODE" {
  default = null
}
variable "SOURCE_DATE_EPOCH" {
  default = null
}
# A folder gets one OCI archive per image; `push` pushes them to the registry, by digest and tag.
variable "OUTPUT" {
  default = ".local/images"
}

group "default" {
  targets = ["image"]
}

target "image" {
  name       = service
  matrix     = { service = ["api", "fanout", "delivery-worker"] }
  context    = "."
  dockerfile = "infra/docker/Dockerfile"
  platforms  = ["linux/amd64", "linux/arm64"]
  args = {
    SERVICE           = service
    VERSION           = VERSION
    REVISION          = REVISION
    NODE              = NODE
    SOURCE_DATE_EPOCH = SOURCE_DATE_EPOCH
  }
  tags   = ["${REGISTRY}/${service}:${VERSION}"]
  attest = ["type=sbom", "type=provenance,mode=max"]
  output = [
    OUTPUT == "push" ? "type=registry,rewrite-timestamp=true" : "type=oci,rewrite-timestamp=true,dest=${OUTPUT}/${service}-${VERSION}.tar"
  ]
}
