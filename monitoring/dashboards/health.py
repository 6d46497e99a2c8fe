"""The dashboard *Health*: alerts, services, errors, disk, images, schedules."""

from __future__ import annotations

from monitoring.dashboards.model import Dashboard, Panel, Query, one

HEALTH = Dashboard(
    "health",
    "Health",
    "Whether the appliance works: alerts, what answers, what fails, what fills up.",
    (
        Panel(
            "Alerts that fire",
            one('count by (alertname) (ALERTS{alertstate="firing"}) or vector(0)', "{{alertname}}"),
            kind="figure",
        ),
        Panel(
            "Answering",
            (
                Query('up{job="controller"}', "controller"),
                Query("mesocosm_host_up", "{{host}}"),
            ),
            kind="figure",
        ),
        Panel(
            "Since the last good run",
            one("time() - mesocosm_last_good_run_timestamp_seconds", "began"),
            "seconds",
            "figure",
            "The last run whose trials were all judged.",
        ),
        Panel("Images not current", one("mesocosm_image_stale", "{{image}}"), kind="figure"),
        Panel(
            "Disk in use",
            one("1 - mesocosm_disk_free_bytes / mesocosm_disk_size_bytes", "of the state's disk"),
            "ratio",
        ),
        Panel(
            "Inconclusive attempts",
            one("mesocosm:inconclusive:ratio_1h", "of the last hour's"),
            "ratio",
        ),
        Panel(
            "Calls to probes that failed, an hour",
            one("sum by (code) (increase(mesocosm_link_errors_total[1h]))", "{{code}}"),
        ),
        Panel(
            "Commands that failed, an hour",
            one("sum by (code) (increase(mesocosm_errors_total[1h]))", "{{code}}"),
        ),
        Panel(
            "Lines of the log of measures that were lost",
            one("sum by (why) (mesocosm_measures_lost_total)", "{{why}}"),
        ),
        Panel("Load of the host", one("mesocosm_host_load_ratio", "of its processors"), "ratio"),
        Panel(
            "Processor time of the controller",
            one("rate(process_cpu_seconds_total[5m])", "{{job}}"),
            "ratio",
        ),
        Panel(
            "Memory of the controller",
            one("process_resident_memory_bytes", "{{job}}"),
            "bytes",
        ),
        Panel("Schedules", one("mesocosm_schedules", "{{state}}")),
        Panel("Messages", one("mesocosm_schedule_messages", "{{state}}")),
        Panel("Recorded runs", one("mesocosm_store_runs", "{{state}}")),
    ),
)
