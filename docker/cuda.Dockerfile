# Training and playing on NVIDIA GPUs. From the repository:
#
#   docker build -f docker/cuda.Dockerfile -t mjlab-cuda .
#   docker run --rm --gpus all mjlab-cuda mjlab list
#
# CUDA comes with the wheels of PyTorch and Warp, and the driver from outside, by NVIDIA's
# container toolkit: no image with a CUDA of its own is needed. The host needs
# an NVIDIA driver 580 or newer (CUDA 13).
FROM python:3.11.7-slim-bookworm

# What the toolkit brings in: to compute, to draw by EGL, and nvidia-smi.
ENV NVIDIA_VISIBLE_DEVICES=all
ENV NVIDIA_DRIVER_CAPABILITIES=compute,graphics,utility

# Films and pictures are drawn without a display, by EGL.
RUN apt-get update && apt-get install -y --no-install-recommends \
        git libegl1 libgl1 libgl1-mesa-dri libopengl0 \
    && rm -rf /var/lib/apt/lists/*

# Files of a run belong to the user outside whose number this is.
ARG UID=1000
RUN useradd --create-home --uid "$UID" mjlab && install --directory --owner mjlab /mjlab
USER mjlab
WORKDIR /mjlab
COPY --chown=mjlab . .

# The steps of the README.
RUN python3 -m venv .venv
ENV PATH=/mjlab/.venv/bin:$PATH
ENV PIP_NO_CACHE_DIR=1
RUN pip install -c constraints.txt -e ".[dev,viewer,video,gym,export,sweep,wandb]"

CMD ["mjlab"]
