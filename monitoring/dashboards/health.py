"""The dashboard *Health*: alerts, services, errors, disk, images, schedules."""

from __future__ import annotations

from monitoring.dashboards.model import Dashboard, Panel, Query, one

HEALTH = Dashboard(
    "health",
    "Health",
    "Health of the appliance: alerts, services, errors and disk usage.",
    (
        Panel(
            "Firing alerts",
            one('count by (alertname) (ALERTS{alertstate="firing"}) or vector(0)', "{{alertname}}"),
            kind="figure",
        ),
        Panel(
            "Hosts and services up",
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
            "The last run in which every trial has a verdict.",
        ),
        Panel("Stale images", one("mesocosm_image_stale", "{{image}}"), kind="figure"),
        Panel(
            "Disk usage",
            one("1 - mesocosm_disk_free_bytes / mesocosm_disk_size_bytes", "of the state's disk"),
            "ratio",
        ),
        Panel(
            "Inconclusive attempts",
            one("mesocosm:inconclusive:ratio_1h", "of the last hour's"),
            "ratio",
        ),
        Panel(
            "Failed probe calls per hour",
            one("sum by (code) (increase(mesocosm_link_errors_total[1h]))", "{{code}}"),
        ),
        Panel(
            "Failed commands per hour",
            one("sum by (code) (increase(mesocosm_errors_total[1h]))", "{{code}}"),
        ),
        Panel(
            "Lost lines of the log of measures",
            one("sum by (why) (mesocosm_measures_lost_total)", "{{why}}"),
        ),
        Panel("Host load", one("mesocosm_host_load_ratio", "of its processors"), "ratio"),
        Panel(
            "Controller CPU time",
            one("rate(process_cpu_seconds_total[5m])", "{{job}}"),
            "ratio",
        ),
        Panel(
            "Controller memory",
            one("process_resident_memory_bytes", "{{job}}"),
            "bytes",
        ),
        Panel("Schedules", one("mesocosm_schedules", "{{state}}")),
        Panel("Messages", one("mesocosm_schedule_messages", "{{state}}")),
        Panel("Recorded runs", one("mesocosm_store_runs", "{{state}}")),
    ),
)
