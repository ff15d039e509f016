# The image of manifests/deployment.yaml:  docker build -t kar-controllers:0.1.0 .
# Not part of the tests, which need no container engine.
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
	gcc libc6-dev meson ninja-build pkg-config libcurl4-openssl-dev libyajl-dev libev-dev libyaml-dev libbsd-dev libmicrohttpd-dev libgnutls28-dev
COPY . /src
RUN meson setup /build /src -Dsimulation=false --buildtype=release && meson compile -C /build kar-controllers && strip /build/controllers/kar-controllers

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
	ca-certificates libcurl4 libyajl2 libev4 libyaml-0-2 libbsd0 libmicrohttpd12 libgnutls30 && rm -rf /var/lib/apt/lists/*
COPY --from=build /build/controllers/kar-controllers /usr/local/bin/kar-controllers
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/kar-controllers"]
