"""The jobs of `make test-nightly`."""

from __future__ import annotations

from dataclasses import dataclass

DISTRIBUTIONS = ("ubuntu-22.04", "ubuntu-24.04", "debian-12")
DEFAULT = "ubuntu-22.04"

_MACHINES = ("provisioning", "images/desktop", "images/hypervisor", "foundation")
_CONTAINERS = (*_MACHINES, "images/desktop_container")
_PHONES = ("images/phone", "provisioning/phone", "provisioning/links")
_FIRST = "tests/integration/test_first_suite.py"
_KILLS = "tests/integration/test_killed_worker.py"
_ENDED = "tests/integration/test_ended_by.py"
_SHOWN = "tests/integration/test_first_observations.py"
_TEAMS = "tests/integration/test_teams_on_machines.py"
_INSPECT = "tests/integration/test_inspect.py"
_CLUSTER = "tests/integration/test_cluster.py"
_MARKS = "tests/unit/controller/observation/marking/test_screens.py"
_OF_THE_SERVICE = (
    "test_appliance",
    "test_debian",
    "test_desktop_leases",
    "test_end_states",
    "test_hostile_model",
    "test_killed_on_machines",
    "test_lost_desktop",
    "test_two_containers",
)
"""Tests on VMs that do not depend on the guest's distribution, and the test of Debian, which other distributions skip."""
_JUDGES = ("evaluators", "provisioning/probe")
_SERVICE_TESTS = (
    "tests/integration/test_killed_service.py",
    "tests/integration/test_full_disk.py",
    "tests/integration/test_interrupts.py",
    "tests/unit/appliance/cli/test_two_processes.py",
    "tests/unit/controller/service",
    "tests/unit/appliance/bench/test_schedule.py",
)
_PAGE_TESTS = (
    "tests/integration/test_pages_in_chromium.py",
    "tests/integration/test_live_screen_in_chromium.py",
)


@dataclass(frozen=True, slots=True)
class Job:
    """One job.

    Attributes:
        name: unique name.
        what: what the job verifies, one clause.
        sources: files and folders of the repository that the job exercises; if they change, its
            row in the ledger is stale.
        pytest: arguments of pytest; empty for a job that runs another command.
        elsewhere: additional arguments on distributions other than the default; they exclude tests
            that do not depend on the distribution.
        command: arguments of `mesocosm`, or of Python if `-m` is first.
        distributions: the job runs once on each; empty if it needs no desktop.
        row: first cell of the table row that is the summary of a command.
        needs_appliance: whether the appliance must be up.
        workers: number of parallel workers; one of them runs all tests on VMs.
        is_spread: whether tests on VMs run on all workers, each with separate VMs.
        timeout_s: deadline, after which the job is stopped and has failed.
    """

    name: str
    what: str
    sources: tuple[str, ...]
    pytest: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    row: str = ""
    distributions: tuple[str, ...] = ()
    needs_appliance: bool = True
    workers: int = 1
    is_spread: bool = False
    timeout_s: float = 5400.0


JOBS = (
    Job(
        "desktop-vm",
        "every integration test on desktop VMs, nightly ones included",
        (*_MACHINES, "tests/integration"),
        pytest=(
            *("-m", "vm", "tests/integration"),
            *(f"--ignore={path}" for path in (_FIRST, _KILLS, _ENDED, _SHOWN, _TEAMS)),
        ),
        elsewhere=tuple(f"--ignore=tests/integration/{name}.py" for name in _OF_THE_SERVICE),
        distributions=DISTRIBUTIONS,
    ),
    Job(
        "ended-desktops",
        "trials are judged if the agent stops its desktop or exhausts its resources",
        (*_MACHINES, "controller/episode", _ENDED),
        pytest=(_ENDED,),
        distributions=DISTRIBUTIONS,
        workers=2,
        is_spread=True,
    ),
    Job(
        "first-suite",
        "each task of the example suite passes `suite validate` on real machines",
        ("evaluators", "controller", "provisioning", "images", "examples/suites/first", _FIRST),
        pytest=(_FIRST,),
        distributions=(DEFAULT,),
        timeout_s=4 * 3600.0,
    ),
    Job(
        "first-observations",
        "30 first observations show the document that setup opened, on a busy host",
        ("controller", "provisioning", "images/desktop", _SHOWN),
        pytest=(_SHOWN,),
        distributions=(DEFAULT,),
        timeout_s=2 * 3600.0,
    ),
    Job(
        "teams",
        "each team, with functions and JSON and two vendors' APIs, plays the suite smoke as scripted; tokens and "
        "cost of each member are exact",
        ("controller", "evaluators/suites/smoke", "tests/standins/scripted_teams.py", _TEAMS),
        pytest=(_TEAMS,),
        distributions=(DEFAULT,),
        timeout_s=3 * 3600.0,
    ),
    Job(
        "marks",
        "nearly every element of thirty real screens gets a mark of its own",
        ("controller/observation", "evaluators/recognition", "tests/marks", _MARKS),
        pytest=(_MARKS,),
        needs_appliance=False,
        timeout_s=1200.0,
    ),
    Job(
        "machine-contract",
        "the contract of machines, and resets after each torture test, on VMs and containers",
        (*_CONTAINERS, "tests/contract"),
        pytest=(
            "-m",
            "vm or docker",
            "tests/contract/test_machine.py",
            "tests/contract/test_torture.py",
            "tests/contract/test_reset_fidelity.py",
        ),
        distributions=DISTRIBUTIONS,
    ),
    Job(
        "attacks",
        "every attack on evaluators, on VMs and containers",
        (*_JUDGES, "controller/episode", "tests/attacks", "images/desktop"),
        pytest=("tests/attacks",),
        elsewhere=("-m", "vm or docker"),
        distributions=DISTRIBUTIONS,
        workers=2,
        is_spread=True,
    ),
    Job(
        "evaluator-cases",
        "desktop evaluators pass their test cases on VMs, if the state consists of files",
        (*_JUDGES, "tests/evaluator_cases", "images/desktop"),
        pytest=("tests/evaluator_cases/machines",),
        distributions=DISTRIBUTIONS,
        workers=2,
        is_spread=True,
    ),
    Job(
        "honest-ways",
        "evaluators accept tasks solved in the desktop's programs by keyboard and mouse",
        ("evaluators", "tests/honest_ways", "images/desktop"),
        pytest=("-m", "vm", "tests/honest_ways"),
        distributions=DISTRIBUTIONS,
        workers=2,
        is_spread=True,
    ),
    Job(
        "desktop-container",
        "every integration test on desktop containers and remote desktops",
        (*_CONTAINERS, "tests/integration"),
        pytest=("-m", "docker and not vm and not phone", "tests/integration"),
        distributions=DISTRIBUTIONS,
    ),
    Job(
        "smoke",
        "the oracle passes each task of the suite smoke three times",
        ("evaluators", "controller", "provisioning", "images"),
        command=("-m", "tests.nightly.smoke"),
        distributions=DISTRIBUTIONS,
    ),
    Job(
        "rewinds",
        "500 verified rewinds in a row",
        _MACHINES,
        command=("bench", "reset", "-n", "500", "--kind", "desktop"),
        row="rewind",
        distributions=(DEFAULT,),
    ),
    Job(
        "phone",
        "phones and their clients, with the full number of fuzzed messages and rewinds",
        (*_PHONES, "tests/contract", "tests/integration"),
        pytest=("-m", "phone or adb", "tests/contract", "tests/integration"),
        needs_appliance=False,
    ),
    Job(
        "mutation",
        "mutants of the code and the states of evaluators are detected by their test cases",
        ("evaluators", "tests/evaluator_cases"),
        pytest=("tests/evaluator_cases/test_mutation.py",),
        needs_appliance=False,
    ),
    Job(
        "interpreters",
        "unit tests pass with every supported Python on this host",
        (
            *("mesocosm", "foundation", "appliance", "controller", "evaluators", "images"),
            *("monitoring", "provisioning"),
            *("tests/unit", "tests/nightly/interpreters.py", "requirements-dev.lock"),
        ),
        command=("-m", "tests.nightly.interpreters"),
        needs_appliance=False,
        timeout_s=4 * 3600.0,
    ),
    Job(
        "small-model",
        "a real model of 135 million parameters plays two tasks on text, and is counted and limited",
        ("controller/models", "controller/agents/model", "tests/nightly/small_model.py"),
        command=("-m", "tests.nightly.small_model"),
        needs_appliance=False,
        timeout_s=2 * 3600.0,
    ),
    Job(
        "twelve-settings",
        "CRAB's twelve settings on the suite smoke against the stand-in server, killed once and resumed: "
        "verdicts, tokens and ways of ending as scripted; their export is complete",
        (
            *("controller/experiments", "controller/trajectories", "controller/agents"),
            *(
                "controller/model_server",
                "examples/experiments",
                "tests/nightly/twelve_settings.py",
            ),
        ),
        command=("-m", "tests.nightly.twelve_settings"),
        distributions=(DEFAULT,),
        timeout_s=2 * 3600.0,
    ),
    Job(
        "service",
        "20 kills of the service lose no trial of 40 and fire no slot twice, a full disk loses nothing, "
        "1,000 abandoned episodes leak nothing, 1,000 machines and 10,000 trials are scheduled in time; "
        "the API is fuzzed",
        ("controller", "evaluators/isolation", "appliance/bench", *_SERVICE_TESTS),
        pytest=_SERVICE_TESTS,
        needs_appliance=False,
    ),
    Job(
        "kills",
        "20 kills of controller and worker lose no trial of 40 on real machines and fire no slot twice",
        (
            "controller",
            "provisioning/fleet",
            "appliance/cli/work.py",
            "appliance/cli/serve.py",
            _KILLS,
        ),
        pytest=(_KILLS,),
        distributions=(DEFAULT,),
        timeout_s=3 * 3600.0,
    ),
    Job(
        "pages",
        "user workflows on pages and live screens, in Chromium",
        ("controller/service/web", "images/novnc", "tests/pages", *_PAGE_TESTS),
        pytest=_PAGE_TESTS,
        needs_appliance=False,
    ),
    Job(
        "hostile-documents",
        "300 corrupt, huge and hostile documents: no crash, no hang, no connection, no container left",
        ("images/renderer", "evaluators/rendering", "tests/hostile_documents"),
        command=("-m", "tests.hostile_documents"),
        needs_appliance=False,
    ),
    Job(
        "cluster",
        "two hosts of a cluster pass tasks on phones and desktops; worker, raylet, pool and machine killed: every "
        "trial has one verdict, no lease is left",
        (
            "controller",
            "provisioning",
            "requirements-ray.lock",
            "tests/standins/cluster.py",
            _CLUSTER,
        ),
        pytest=(_CLUSTER,),
        timeout_s=3 * 3600.0,
    ),
    Job(
        "inspect",
        "Inspect's self-check and evaluations of tasks, in an environment with the client's wheel",
        ("client", "mesocosm", "controller/service", "tests/inspect_checks", _INSPECT),
        pytest=(_INSPECT,),
    ),
    Job(
        "cloud-init",
        "a desktop is provisioned by cloud-init",
        ("images",),
        pytest=("tests/integration/test_cloud_init.py",),
        needs_appliance=False,
    ),
)


def select(names: tuple[str, ...]) -> tuple[Job, ...]:
    """Return the jobs with these names; all jobs if none is given.

    Raises:
        KeyError: no job has one of the names.
    """
    by_name = {job.name: job for job in JOBS}
    return tuple(by_name[name] for name in names) if names else JOBS
