//! `fullpipe plan`: settings for the hosts of a path, and the run that proves them.

use crate::failure::Failure;
use crate::interrupt;
use crate::new_file;
use crate::output::{Output, note};
use crate::plan_arguments::PlanArguments;
use crate::plan_nfs;
use crate::progress::InTurn;
use fullpipe::engine::{Failed, sim::Simulator};
use fullpipe::plan::proof::{Proof, proof};
use fullpipe::plan::{self, Advice, Demand, answer, page, scenario, text};
use fullpipe::scenario::Version;
use fullpipe::sizing::{Plan, Question, plan as arithmetic};
use serde::Serialize;

/// Both hosts' kernel where none is named.
const KERNEL: Version = Version::new(6, 12, 0);

/// Text that the first signal prints.
const STOPPING: &str = "stopping; the plan is shown without its proof (once more to quit at once)";

/// Document that `--json` prints.
#[derive(Serialize)]
struct Document {
    /// The first sentence.
    answer: String,
    #[serde(flatten)]
    plan: Plan,
    advice: Advice,
    /// None: not asked for, or interrupted.
    proof: Option<Proof>,
}

/// Answers, proves and prints.
///
/// # Errors
/// A quantity is out of range, a file cannot be written, or the proof was interrupted.
pub fn plan(arguments: &PlanArguments, output: &Output) -> Result<(), Failure> {
    let demand = demand(arguments);

    // Mounts have a planner of their own.
    if arguments.nfs {
        return plan_nfs::plan(demand.path, arguments, output);
    }
    if arguments.kernel.is_none() {
        note(&format!("note: planned for Linux {KERNEL}; --kernel names another (see `uname -r`)"));
    }

    let wrong = |wrong: fullpipe::sizing::OutOfRange| Failure::Input(wrong.to_string());
    let advice = plan::advise(&demand).map_err(wrong)?;
    let plan = arithmetic(&demand.path).map_err(wrong)?;

    // The scenario is written first: a proof may be interrupted.
    if let Some(file) = &arguments.scenario {
        new_file::write(file, &scenario::scenario(&demand, &advice))?;
    }

    interrupt::listen(STOPPING)?;
    let proof = if arguments.no_proof { None } else { proven(&demand, &advice)? };

    // The proof may correct what the arithmetic advises.
    let advice = match &proof {
        Some(proof) => advice.judged(&demand, proof),
        None => advice,
    };
    let document = Document { answer: String::new(), plan, advice, proof };
    show(&demand, document, arguments, output)?;
    if interrupt::stopped() { Err(Failure::Interrupted) } else { Ok(()) }
}

fn demand(arguments: &PlanArguments) -> Demand {
    Demand {
        path: Question {
            rate: arguments.rate,
            rtt: arguments.rtt,
            mtu: arguments.mtu,
            framing: arguments.framing.into(),
            kernel: arguments.kernel.unwrap_or(KERNEL),
            timestamps: !arguments.no_timestamps,
        },
        flows: arguments.flows,
        loss: arguments.loss,
        queue: arguments.queue,
        congestion: arguments.congestion.clone(),
    }
}

/// A proof of more packets takes longer than a moment.
const MANY_PACKETS: f64 = 2e7;

fn proven(demand: &Demand, advice: &Advice) -> Result<Option<Proof>, Failure> {
    let lasts = demand.outline().lasts();
    let packets = demand.path.rate.0 as f64 / 8.0 / f64::from(demand.path.packet());
    if demand.loss > 0.0 || packets * lasts.as_secs_f64() > MANY_PACKETS {
        note(&format!(
            "simulating {lasts} with today's and the planned settings; --no-proof leaves it out"
        ));
    }
    proof(demand, advice, &Simulator, &mut InTurn::new()).map_err(|failed| match failed {
        Failed::Scenario(why) => Failure::Input(why),
        Failed::Machine(why) => Failure::Environment(why),
    })
}

fn show(
    demand: &Demand,
    own: Document,
    arguments: &PlanArguments,
    output: &Output,
) -> Result<(), Failure> {
    let proof = own.proof.as_ref();
    if arguments.json {
        let answer = answer::answer(demand, &own.advice, proof);
        return output.json(&Document { answer, ..own });
    }
    let advice = page::render(demand, &own.advice, proof);
    match arguments.full {
        true => output.print(&format!("{advice}\n{}", text::render(&own.plan))),
        false => output.print(&format!("{advice}\n{}", text::brief(&own.plan))),
    }
}
