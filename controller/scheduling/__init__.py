"""Turn a run into jobs: order, retries, budget and pause; interfaces of executors and sinks."""
