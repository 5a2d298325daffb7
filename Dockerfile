# Parley in a container. Two images that differ in one file:
#
#   docker build -t parley:0.1.0 .                     cpu: the embedded voice, and qwen3 on the processor
#   docker build -t parley:0.1.0-gpu --target gpu .    gpu: also parley_cuda.so, for NVIDIA GPUs
#   ... --build-arg PARLEY_CUDA_ARCHITECTURES=90a      for one kind of GPU alone: all of them take long
#
# compose.yaml runs them; public/docs/operations.md explains the details. The build needs BuildKit (Docker 23 or later) or buildah.
FROM node:24.19.0-bookworm-slim AS node

FROM node AS build
# What `setup.sh build` asks for. OpenSSL's and libuv's headers lie beside node in this image.
RUN apt-get update \
  && apt-get install -y --no-install-recommends cmake g++ make python3 \
  && rm -rf /var/lib/apt/lists/*
# Those headers are node-gyp's, too: it downloads none.
ENV npm_config_nodedir=/usr/local
WORKDIR /app
COPY package.json package-lock.json ./
# One package of production is a program to compile. It is compiled here: what its maker offers compiled has no checksum in the lock file.
RUN --mount=type=cache,target=/root/.npm \
  npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && npm_config_build_from_source=true npm rebuild --foreground-scripts @discordjs/opus
COPY native/CMakeLists.txt native/package.json native/drop-moved-build.sh native/
COPY native/cmake native/cmake
COPY native/audio native/audio
COPY native/media native/media
COPY native/kernels native/kernels
COPY native/model native/model
COPY native/runtime native/runtime
COPY native/binding native/binding
RUN npm run -s build:native
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY sip sip
COPY signaling signaling
RUN npm run -s build:server
# What only builds stays here, and of Opus its sources. Its licence (COPYING) travels with
# both copies that were made of them: the package's binding, and the one inside parley.node.
# The ONNX runtime comes with the programs of all platforms: 245 of its 290 MB are of others.
RUN npm uninstall --no-save --ignore-scripts --omit=dev --no-audit --no-fund \
    @types/node @types/ws cmake-js node-addon-api node-api-headers typescript \
  && cd node_modules/@discordjs/opus \
  && mv deps/opus/COPYING LICENSE.opus \
  && rm -r build-tmp-* deps src tests \
  && cd ../../onnxruntime-node/bin/napi-v6 \
  && platform="$(node -p '`${process.platform}/${process.arch}`')" \
  && find . -mindepth 2 -maxdepth 2 ! -path "./$platform" -exec rm -r {} +

# The oldest system that has this CUDA: what is linked here wants a C library no newer than the one it will meet
# (glibc 2.35 and GCC 11 here, 2.36 and 12 in Debian 12).
FROM nvidia/cuda:13.0.2-devel-ubuntu22.04 AS cuda
RUN apt-get update \
  && apt-get install -y --no-install-recommends cmake g++ make \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY native/CMakeLists.txt native/build-cuda.sh native/drop-moved-build.sh native/
COPY native/cmake native/cmake
COPY native/kernels native/kernels
ARG PARLEY_CUDA_ARCHITECTURES
RUN native/build-cuda.sh && test -s native/build/Release/parley_cuda.so

FROM node AS runtime
LABEL org.opencontainers.image.title="Parley" \
  org.opencontainers.image.description="A real-time voice media server that speaks text into live calls" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.licenses="Apache-2.0"
# Voices and word tables that are stored over HTTP, and models that `pull` fetches: mount volumes here to keep them.
ENV VOICES_DIR=/var/lib/parley/voices KEY_TABLES_DIR=/var/lib/parley/tables HF_HOME=/var/lib/parley/models
RUN install -d -o node -g node -m 0700 "$VOICES_DIR" "$KEY_TABLES_DIR" "$HF_HOME"
WORKDIR /app
# What changes least comes first. Packages bring the texts of their licences along, as their makers put them there.
COPY --from=build /app/node_modules node_modules
COPY package.json LICENSE NOTICE ./
COPY native/docker-entrypoint.sh native/docker-health.mjs native/
COPY --from=build /app/native/build/Release/parley.node native/build/Release/parley.node
COPY public public
COPY src/hearing/models src/hearing/models
COPY src/text/tables src/text/tables
COPY --from=build /app/dist dist
# The user `node`, by number: Kubernetes believes no name (runAsNonRoot).
USER 1000:1000
EXPOSE 8080
# Calls get DRAIN_TIMEOUT (30 s) to end: give it more than that (docker stop --time, stop_grace_period).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 CMD ["node", "/app/native/docker-health.mjs"]
ENTRYPOINT ["/app/native/docker-entrypoint.sh"]

FROM runtime AS gpu
# For the NVIDIA Container Toolkit: all GPUs that the container is given, the driver's library and nvidia-smi.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
COPY --from=cuda /app/native/build/Release/parley_cuda.so native/build/Release/parley_cuda.so

# The last one is what is built where none is named.
FROM runtime AS cpu
