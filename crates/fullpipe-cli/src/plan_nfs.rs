//! `fullpipe plan --nfs`: settings of a mount over a path for both ends, and the proof.

use crate::failure::Failure;
use crate::interrupt;
use crate::new_file;
use crate::output::{Output, note};
use crate::plan_arguments::PlanArguments;
use crate::progress::InTurn;
use fullpipe::advice::files::File;
use fullpipe::base::units::Time;
use fullpipe::engine::{Engine, Failed, sim::Simulator};
use fullpipe::plan::nfs::files::{files, mount};
use fullpipe::plan::nfs::proof::{Proof, SETTINGS, proof};
use fullpipe::plan::nfs::{Plan, Question, plan as answer, scenario, text};
use fullpipe::sizing::Question as Path;
use serde::Serialize;

/// Round trips of near clients where nothing is said of them.
const NEAR_RTT: Time = Time::us(200);

/// Text that the first signal prints.
const STOPPING: &str = "stopping; the plan is shown without its proof (once more to quit at once)";

/// Document that `--json` prints.
#[derive(Serialize)]
struct Document {
    /// The first sentence, where there is a proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[serde(flatten)]
    plan: Plan,
    mount: String,
    files: Vec<File>,
    /// None: not asked for, or interrupted.
    proof: Option<Proof>,
}

/// Answers, proves and prints.
pub fn plan(path: Path, arguments: &PlanArguments, output: &Output) -> Result<(), Failure> {
    let asked = &arguments.mount;
    if asked.file.is_some() && arguments.no_proof && arguments.scenario.is_none() {
        let why = "--file is the size of the proof's file, and --no-proof asks for none";
        return Err(Failure::Input(format!("{why}; leave one of them out, or name a --scenario")));
    }
    let question = Question {
        path,
        loss: arguments.loss,
        version: asked.nfs_version.into(),
        clients: asked.clients,
        near: asked.near,
        // A near client is not farther than the path's own.
        near_rtt: asked.near_rtt.unwrap_or_else(|| NEAR_RTT.min(path.rtt)),
        server_memory: asked.server_memory,
        service: asked.service,
        // The file lasts long enough to leave the start behind.
        file: asked.file.unwrap_or_else(|| scenario::file(&path)),
    };
    let plan = answer(&question).map_err(|wrong| Failure::Input(wrong.to_string()))?;
    if let Some(file) = &arguments.scenario {
        new_file::write(
            file,
            &scenario::scenario(
                &question,
                &[(SETTINGS[0], plan.today), (SETTINGS[1], plan.settings)],
            ),
        )?;
    }

    // The answer needs no run: only the proof can be interrupted.
    interrupt::listen(STOPPING)?;
    let proof = if arguments.no_proof { None } else { proven(&question, &plan)? };
    match arguments.json {
        true => output.json(&document(&question, plan, proof))?,
        false => output.print(&text::render(&question, &plan, proof.as_ref()))?,
    }
    if interrupt::stopped() { Err(Failure::Interrupted) } else { Ok(()) }
}

fn document(question: &Question, plan: Plan, proof: Option<Proof>) -> Document {
    let (mount, files) = (mount(question, &plan.settings), files(question, &plan));
    Document { answer: proof.as_ref().map(Proof::answer), plan, mount, files, proof }
}

fn proven(question: &Question, plan: &Plan) -> Result<Option<Proof>, Failure> {
    let engine: &dyn Engine = &Simulator;
    note("simulating a write and a read with both settings");
    proof(question, plan, engine, &mut InTurn::new()).map_err(|failed| match failed {
        Failed::Scenario(why) => Failure::Input(why),
        Failed::Machine(why) => Failure::Environment(why),
    })
}
