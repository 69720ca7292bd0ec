# Training and playing on a CPU. From the repository:
#
#   docker build -f docker/cpu.Dockerfile -t mjlab .
#
# With --build-arg TORCH_INDEX=ADDRESS, PyTorch comes from the index of its CPU builds,
# which are several GB smaller; without, it is the default build.
FROM python:3.11.7-slim-bookworm

# Films and pictures are drawn without a display, by EGL and Mesa.
RUN apt-get update && apt-get install -y --no-install-recommends \
        git libegl1 libgl1 libgl1-mesa-dri libopengl0 \
    && rm -rf /var/lib/apt/lists/*

# Files of a run belong to the user outside whose number this is.
ARG UID=1000
RUN useradd --create-home --uid "$UID" mjlab && install --directory --owner mjlab /mjlab
USER mjlab
WORKDIR /mjlab
COPY --chown=mjlab . .

# The steps of the README, with a build of PyTorch that is kept by the second.
RUN python3 -m venv .venv
ENV PATH=/mjlab/.venv/bin:$PATH
ENV PIP_NO_CACHE_DIR=1
ARG TORCH_INDEX=
RUN pip install ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} \
        "$(grep '^torch==' constraints.txt)"
RUN pip install -c constraints.txt -e ".[dev,viewer,video,gym,export,sweep,wandb]"

CMD ["mjlab"]
