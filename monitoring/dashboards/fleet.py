"""The dashboard *Fleet*: machines, leases, pool, memory."""

from __future__ import annotations

from monitoring.dashboards.model import RANGE, Dashboard, Panel, Query, one, quantiles

FLEET = Dashboard(
    "fleet",
    "Fleet",
    "Machines, leases, waiting requests, and memory.",
    (
        Panel(
            "Machines",
            one("sum by (kind, state) (mesocosm_machines)", "{{kind}} {{state}}"),
            kind="figure",
        ),
        Panel("Hosts that answer", one("mesocosm_host_up", "{{host}}"), kind="figure"),
        Panel("Leases", one("mesocosm_leases", "{{state}}"), kind="figure"),
        Panel(
            "Forks on standby",
            (
                Query("mesocosm_pool_standing_by", "{{kind}} on standby"),
                Query("mesocosm_pool_wanted", "{{kind}} wanted"),
            ),
            kind="figure",
        ),
        Panel(
            "Machines by state",
            one("sum by (kind, state) (mesocosm_machines)", "{{kind}} {{state}}"),
        ),
        Panel("Leases over time", one("mesocosm_leases", "{{state}}")),
        Panel(
            "Pool",
            (
                Query("mesocosm_pool_standing_by", "{{kind}} on standby"),
                Query("mesocosm_pool_wanted", "{{kind}} wanted"),
            ),
        ),
        Panel(
            "Time to get machines",
            quantiles("acquire_seconds", "kinds", 0.5, 0.95),
            "seconds",
            description="Time from the request to a lease with all machines verified.",
        ),
        Panel(
            "Leases per minute",
            one(
                f"sum by (kinds) (rate(mesocosm_acquire_seconds_count[{RANGE}])) * 60", "{{kinds}}"
            ),
            "per_minute",
        ),
        Panel(
            "Longest wait for machines",
            one("mesocosm_lease_longest_wait_seconds", "waiting now"),
            "seconds",
        ),
        Panel(
            "Memory",
            (
                Query("mesocosm_memory_reserved_bytes", "reserved for machines"),
                Query("mesocosm_memory_available_bytes", "available"),
                Query("mesocosm_memory_total_bytes", "of the host"),
            ),
            "bytes",
        ),
        Panel("Boots", quantiles("boot_seconds", "kind", 0.5, 0.95), "seconds"),
    ),
)
