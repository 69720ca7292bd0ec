// Comparisons of the page with recorded values of the Python runner and MuJoCo.

/** Stop the loop of the page, and open a policy. */
async function opened(name) {
  const page = mjlabPage;
  page.frame = async () => undefined; // Nothing else simulates from now on.
  while (page.isBusy) await new Promise((done) => setTimeout(done, 10));
  await page.open(page.named(name));
  return page.session;
}

function farthest(found, wanted) {
  if (found.length !== wanted.length) return Infinity;
  return found.reduce((most, value, i) => {
    const away = Math.abs(value - wanted[i]);
    return away <= most ? most : Number.isNaN(away) ? Infinity : away;
  }, 0);
}

/** Largest difference of positions under recorded controls. */
async function controlled({ policy, qpos, qvel, controls, positions }) {
  const { robot } = await opened(policy);
  const { mujoco, model, data } = robot;
  mujoco.mj_resetData(model, data);
  data.qpos.set(qpos);
  data.qvel.set(qvel);
  let worst = 0;
  controls.forEach((ctrl, step) => {
    data.ctrl.set(ctrl);
    mujoco.mj_step(model, data);
    worst = Math.max(worst, farthest(Array.from(data.qpos), positions[step]));
  });
  return worst;
}

/** Largest difference of the outputs on the recorded inputs of the file. */
async function answered(name) {
  const { policy } = await opened(name);
  const { contract, record } = policy;
  const row = (values, step, count) => {
    const size = values.length / count;
    return values.slice(step * size, (step + 1) * size);
  };
  let worst = 0;
  policy.reset();
  for (let step = 0; step < contract.record.steps; step++) {
    const inputs = Object.fromEntries(
      contract.inputs.map(({ name }) => [
        name,
        row(record[`input ${name}`], step, contract.record.steps),
      ]),
    );
    for (const [output, values] of Object.entries(await policy.call(inputs))) {
      const wanted = record[`output ${output}`];
      if (wanted !== undefined) {
        const expected = row(wanted, step, contract.record.steps);
        worst = Math.max(worst, farthest(Array.from(values), expected));
      }
    }
  }
  return worst;
}

/** Put the robot and the policy in a recorded state. */
function placed({ policy, robot }, state) {
  const { mujoco, model, data } = robot;
  robot.start(Float64Array.from(state.qpos), Float64Array.from(state.qvel));
  data.act.set(state.act);
  data.ctrl.set(state.ctrl);
  data.qacc_warmstart.set(state.warmstart);
  mujoco.mj_forward(model, data);
  robot.constraint.set(state.constraint);
  for (const [name, values] of Object.entries(state.memory)) {
    (policy.state[name] ?? policy.world.state[name]).data.set(values);
  }
}

function commanded(values) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Float32Array.from(value)]),
  );
}

async function acted({ policy, robot }, commands) {
  robot.write(await policy.call(await robot.read(commanded(commands))));
  await robot.wait();
  return Array.from(robot.data.qpos);
}

/** Targets and positions of one control step from each recorded state. */
async function steppedOnce({ policy: name, states }) {
  const session = await opened(name);
  const rows = [];
  for (const state of states.slice(0, -1)) {
    placed(session, state);
    const qpos = await acted(session, state.commands);
    const targets = Object.entries(session.robot.targets);
    rows.push({
      qpos,
      targets: Object.fromEntries(targets.map(([n, values]) => [n, Array.from(values)])),
    });
  }
  return rows;
}

/** Largest difference while the policy runs freely from the first recorded state. */
async function ranFreely({ policy: name, states }) {
  const session = await opened(name);
  let worst = 0;
  session.policy.reset();
  placed(session, states[0]);
  for (let i = 0; i + 1 < states.length; i++) {
    const found = await acted(session, states[i].commands);
    worst = Math.max(worst, farthest(found, states[i + 1].qpos));
  }
  return worst;
}

/** Weighted reward terms of the first steps, under recorded commands. */
async function rewarded({ policy, steps, commands }) {
  const session = await opened(policy);
  const rows = [];
  for (let i = 0; i < steps; i++) {
    (commands[i] ?? []).forEach((value, axis) => {
      session.steering.axes[axis].value = value;
    });
    await session.step();
    const terms = Object.entries(session.robot.rewards);
    rows.push(Object.fromEntries(terms.map(([name, [value]]) => [name, value])));
  }
  return rows;
}

/** Simulated seconds per second of wall time: of the page's session, and of physics. */
async function timed({ policy: name, steps }) {
  const session = await opened(name);
  const { robot, policy } = session;
  let start = performance.now();
  for (let i = 0; i < steps; i++) await session.step();
  const whole = (steps * policy.dt) / ((performance.now() - start) / 1000);
  start = performance.now();
  for (let i = 0; i < 500; i++) robot.mujoco.mj_step(robot.model, robot.data);
  const seconds = (performance.now() - start) / 1000;
  return { whole, physics: (500 * policy.contract.rates.physics_dt) / seconds };
}

/** Number of pushes, one along each axis of the world, that a robot survives. */
async function pushed({ policy, command }) {
  const session = await opened(policy);
  if (!session.steering.axes.some((axis) => axis.isVelocity)) return null;
  let survived = 0;
  for (const [x, y] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
    session.restart();
    if (command) session.steering.take(command);
    while (session.time < 3) await session.step();
    session.push(x, y);
    while (session.time < 8 && !session.hasFallen) await session.step();
    survived += session.hasFallen ? 0 : 1;
  }
  return survived;
}
