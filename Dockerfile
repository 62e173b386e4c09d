# The Home Assistant app. Home Assistant builds it from this repository; nothing is compiled.
FROM ghcr.io/home-assistant/base-debian:trixie AS build

RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-pip python3-setuptools python3-venv

WORKDIR /build
COPY requirements.lock ./
RUN python3 -m venv --without-pip /opt/moss-nano \
    && pip --python /opt/moss-nano install --no-cache-dir --only-binary :all: --require-hashes \
        -r requirements.lock

COPY LICENSE NOTICE README.md pyproject.toml ./
COPY wyoming_moss_nano wyoming_moss_nano
RUN pip wheel --no-deps --no-build-isolation --wheel-dir wheels . \
    && pip --python /opt/moss-nano install --no-cache-dir --no-deps wheels/*.whl


FROM ghcr.io/home-assistant/base-debian:trixie

# Where the Supervisor mounts what is kept, and what speaks where the options do not say.
ENV MOSS_NANO_DATA_DIR=/data \
    MOSS_NANO_MODEL=official \
    MOSS_NANO_VOICES_DIR=/config/voices

RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --user-group --no-create-home --home-dir /data \
        --shell /usr/sbin/nologin moss \
    && ln -s /opt/moss-nano/bin/wyoming-moss-nano /usr/local/bin/wyoming-moss-nano

COPY --from=build /opt/moss-nano /opt/moss-nano
COPY addon/rootfs /

# The server answers while the model is still on its way; a first start on a slow machine takes longer.
HEALTHCHECK --start-period=10m --interval=2m --timeout=20s --retries=3 \
    CMD ["wyoming-moss-nano", "probe", "tcp://127.0.0.1:10200"]

ARG BUILD_ARCH=amd64
ARG BUILD_VERSION=dev
LABEL io.hass.type="app" \
    io.hass.name="MOSS Nano TTS" \
    io.hass.arch="${BUILD_ARCH}" \
    io.hass.version="${BUILD_VERSION}" \
    org.opencontainers.image.title="MOSS Nano TTS" \
    org.opencontainers.image.description="Private speech in a voice of your own, for Home Assistant" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${BUILD_VERSION}"
