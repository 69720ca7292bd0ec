// Does with mjlab_runner.hpp what its tests ask for, and prints what comes out.
//
// Each line of the standard input is a moment in JSON, and each line that is printed
// answers one.
#include <cstdlib>
#include <iomanip>
#include <iostream>

#include "mjlab_runner.hpp"

using namespace mjlab;

constexpr long kFault = 5;  // Period in which something goes wrong.

static std::vector<Json> moments() {
  std::vector<Json> found;
  for (std::string line; std::getline(std::cin, line);)
    found.push_back(JsonReader::read(line));
  return found;
}

static Arrays arrays(const Json& json) {
  Arrays found;
  for (std::size_t i = 0; i < json.names.size(); ++i)
    found[json.names[i]] = json.items[i].numbers();
  return found;
}

static void print(const Numbers& values) {
  for (float value : values) std::cout << value << ' ';
}

static void print_targets(const Contract& contract, const Arrays& answer) {
  for (const Target& target : targets_of(contract, answer))
    std::cout << target.name << ' ' << target.value << ' ';
  std::cout << '\n';
}

// The file answers what was recorded: what it is given, states included.
static void file(const Contract& contract) {
  const Json* now = nullptr;
  std::size_t size = 0;
  for (const auto* fields : {&contract.inputs, &contract.states})
    for (const Field& each : *fields) size += each.size();
  FilePolicy policy(contract, [&](const float* in, float* out) {
    print(Numbers(in, in + size));
    const Numbers recorded = (*now)["answer"].numbers();
    std::copy(recorded.begin(), recorded.end(), out);
  });
  for (const Json& moment : moments()) {
    now = &moment;
    if (moment["begins"].flag) policy.reset();
    const Arrays answer = policy(arrays(moment["inputs"]));
    std::cout << "| ";
    print_targets(contract, answer);
  }
}

// The same for a muscle controller.
static void controller(const Contract& contract, const std::string& action) {
  const Controller& of = contract.controller(action);
  const Json* now = nullptr;
  std::size_t size = 0;
  for (const auto* fields : {&of.inputs, &of.states})
    for (const Field& each : *fields) size += each.size();
  MuscleController muscles(of, [&](const float* in, float* out) {
    print(Numbers(in, in + size));
    const Numbers recorded = (*now)["answer"].numbers();
    std::copy(recorded.begin(), recorded.end(), out);
  });
  for (const Json& moment : moments()) {
    now = &moment;
    if (moment["begins"].flag) muscles.reset();
    State state;
    state.given = arrays(moment["inputs"]);
    for (const Field& each : of.inputs) {
      const Numbers& values = state.given.at(each.name);
      for (std::size_t i = 0; i < each.elements.size(); ++i) {
        if (each.name == "joint_pos") state.joint_pos[each.elements[i]] = values[i];
        if (each.name == "joint_vel") state.joint_vel[each.elements[i]] = values[i];
      }
    }
    const auto excited = muscles(measure(contract, of, state, state.given));
    std::cout << "| ";
    for (const Target& target : excited)
      std::cout << target.name << ' ' << target.value << ' ';
    std::cout << '\n';
  }
}

template <std::size_t N>
static std::array<double, N> fixed(const Json& json) {
  std::array<double, N> found{};
  for (std::size_t i = 0; i < N; ++i) found[i] = json.list().at(i).number();
  return found;
}

static void measured(const Contract& contract) {
  for (const Json& moment : moments()) {
    State state;
    const Json& joints = moment["joints"];
    for (std::size_t i = 0; i < joints.names.size(); ++i) {
      const auto both = fixed<2>(joints.items[i]);
      state.joint_pos[joints.names[i]] = both[0];
      state.joint_vel[joints.names[i]] = both[1];
    }
    const Json& bodies = moment["bodies"];
    for (std::size_t i = 0; i < bodies.names.size(); ++i) {
      const Json& body = bodies.items[i];
      state.bodies[bodies.names[i]] = {fixed<3>(body["pos"]), fixed<4>(body["quat"]),
                                       fixed<3>(body["lin_vel"]),
                                       fixed<3>(body["ang_vel"])};
    }
    state.sensors = arrays(moment["sensors"]);
    state.given = arrays(moment["given"]);
    const Arrays found = measure(contract, state, arrays(moment["commands"]));
    for (const Field& input : contract.inputs) print(found.at(input.name));
    std::cout << '\n';
  }
}

// A robot that measures what was recorded, and in which something goes wrong.
struct Scripted : RobotInterface {
  const Contract& contract;
  std::string fault;
  std::vector<Json> recorded = moments();
  PacketSource* source = nullptr;
  Policy* policy = nullptr;
  long period = -1, damped = -1;
  double time = 0.0;

  Scripted(const Contract& of, std::string what)
      : contract(of), fault(std::move(what)) {}

  bool is(const char* what) const { return fault == what && period >= kFault; }

  Arrays read(const Arrays&) override {
    ++period;
    if (is("throws")) throw std::runtime_error("the bus is gone");
    Arrays found = arrays(recorded.at(static_cast<std::size_t>(period))["inputs"]);
    // In one period alone: the robot stays let go.
    if (is("nan") && period == kFault) found.at("joint_vel")[3] = std::nanf("");
    if (is("fall"))
      found.at("imu_upvector") = {0, std::sin(1.22f), std::cos(1.22f)};
    if (is("down")) found.at("imu_upvector") = {0, 0, -1};
    if (is("long")) found.at("imu_upvector") = {0, 0, 9.81f};
    if (is("degrees"))
      for (float& each : found.at("joint_pos")) each *= 57.29578f;
    if (is("input")) found.at("joint_pos")[2] = 0.0f;
    if (is("beyond")) found.at("joint_pos")[2] = contract.joints[2].high + 0.05f;
    if (is("apart")) found.at("joint_pos")[0] = 0.9f;
    if (is("no_velocity")) found.erase("imu_lin_vel");
    if (is("narrow")) found.at("joint_pos").pop_back();
    if (is("forgets")) policy->reset();
    if (fault == "speed") found.at("joint_vel").assign(12, 0.5f * 57.29578f);
    if (fault == "backwards") found.at("joint_vel").assign(12, -0.5f);
    if (fault == "gyro") {
      found.at("imu_upvector") = {0, std::sin(angle()), std::cos(angle())};
      found.at("imu_ang_vel") = {0.5f * 57.29578f, 0, 0};
    }
    return found;
  }
  // The robot turns, and its joints do, by 0.5 rad/s.
  float angle() const { return 0.5f * static_cast<float>(contract.dt * period); }
  std::map<std::string, Gains> gains() override {
    std::map<std::string, Gains> found;
    if (fault == "gains") found["FL_calf_joint"].damping = 0.0;
    if (fault == "weak") found["FL_calf_joint"].effort_limit = 30.0;
    return found;
  }
  void write(const std::vector<Target>& targets) override {
    std::cout << "write " << targets.size() << '\n';
  }
  void damp() override {
    if (damped < 0) damped = period;
    std::cout << "damp\n";
  }
  void wait() override {
    time += contract.dt;
    if (source && !(fault == "packet" && period >= kFault - 1))
      source->take("twist", {0.1f * static_cast<float>(period), 9.0f, 0.0f});
  }
  double now() override { return time + (is("stall") ? 0.03 : 0.0); }
  std::vector<double> joint_pos() override {
    std::vector<double> found;
    for (const Joint& joint : contract.joints) found.push_back(joint.default_pos);
    if (is("limit")) found[2] = 0.0;  // A calf ends at -0.888.
    if (is("beyond")) found[2] = contract.joints[2].high + 0.05;
    if (is("missing")) found.pop_back();
    if (is("nan_joint")) found[2] = std::nan("");
    if (fault == "speed" || fault == "backwards")
      for (double& each : found) each += angle();
    return found;
  }
  double upright() override {
    if (fault == "gyro") return std::cos(angle());
    return is("fall") ? std::cos(1.22) : 1.0;
  }
};

struct Key : CommandSource {
  using CommandSource::CommandSource;
  long period = -1;
  double read() override {
    return ++period < kFault ? 0.0 : std::numeric_limits<double>::infinity();
  }
};

static void loop(const Contract& contract, const std::string& fault) {
  Scripted robot(contract, fault);
  std::size_t answers = 0, states = 0;
  for (const Field& each : contract.outputs) answers += each.size();
  for (const Field& each : contract.states) states += each.size();
  FilePolicy policy(contract, [&](const float*, float* out) {
    std::fill_n(out, answers, robot.is("answer") ? std::nanf("") : 0.01f);
    if (fault != "stateless") std::fill_n(out + answers, states, 0.01f);
  });
  robot.policy = &policy;
  PacketSource packets(contract, [&] { return robot.time; });
  Key key(contract);
  Safety safety(contract);
  safety.late = 1.5 * contract.dt;
  robot.source = &packets;
  CommandSource& source = fault == "key" ? static_cast<CommandSource&>(key) : packets;
  std::string reason;
  try {
    reason = run(policy, robot, source, safety, 10, [](const Period& period) {
      std::cout << "commands ";
      print(period.commands.at("twist"));
      std::cout << '\n';
    });
  } catch (const std::exception& error) {
    reason = std::string("error: ") + error.what();
  }
  std::cout << "damped " << robot.damped << '\n' << "reason " << reason << '\n';
}

// A robot that reads what was recorded, and stands where it says.
struct Recorded : RobotInterface {
  std::vector<Json> recorded = moments();
  std::size_t period = 0;
  double dt;

  explicit Recorded(double period_s) : dt(period_s) {}

  Arrays inputs() const { return arrays(recorded.at(period)["inputs"]); }
  Arrays read(const Arrays&) override { return inputs(); }
  void write(const std::vector<Target>&) override {}
  void damp() override {}
  void wait() override { ++period; }
  double now() override { return dt * static_cast<double>(period); }
  std::vector<double> joint_pos() override {
    const Numbers found = inputs().at("joint_pos");
    return {found.begin(), found.end()};
  }
  double upright() override { return inputs().at("imu_upvector")[2]; }
};

// Print the log of a run in which the file answers what was recorded.
static void logged(const Contract& contract) {
  Recorded robot(contract.dt);
  FilePolicy policy(contract, [&](const float*, float* out) {
    const Numbers answer = robot.recorded.at(robot.period)["answer"].numbers();
    std::copy(answer.begin(), answer.end(), out);
  });
  CommandSource source(contract);
  source.set("twist", arrays(robot.recorded.at(0)["inputs"]).at("twist"));
  Safety safety(contract);
  const long steps = static_cast<long>(robot.recorded.size());
  run(policy, robot, source, safety, steps,
      [](const Period& period) { std::cout << log_line(period) << '\n'; });
}

// Print why each contract, one a line in JSON or not, is refused.
static void refused() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      FilePolicy policy(Contract(line), {});
      std::cout << "taken\n";
    } catch (const ContractError& error) {
      std::cout << error.what() << '\n';
    }
  }
}

#ifdef MJLAB_ONNXRUNTIME
static void onnx(const std::string& path, const std::string& action) {
  OnnxFile file(path);
  if (!action.empty()) {
    MuscleController muscles(file.contract.controller(action), file.call(action));
    for (const Json& moment : moments()) {
      for (const Target& target : muscles(arrays(moment["inputs"])))
        std::cout << target.name << ' ' << target.value << ' ';
      std::cout << '\n';
    }
    return;
  }
  FilePolicy policy(file.contract, file.call());
  for (const Json& moment : moments())
    print_targets(file.contract, policy(arrays(moment["inputs"])));
}
#endif

int main(int count, char** words) {
  const std::string mode = words[1], path = count > 2 ? words[2] : "";
  std::cout << std::setprecision(9);
  try {
    if (mode == "file") file(Contract::read(path));
    if (mode == "controller") controller(Contract::read(path), words[3]);
    if (mode == "measure") measured(Contract::read(path));
    if (mode == "loop") loop(Contract::read(path), words[3]);
    if (mode == "log") logged(Contract::read(path));
    if (mode == "refuse") refused();
    if (mode == "check") Contract::read(path).check_file(read_file(words[3]));
    if (mode == "hash") std::cout << sha256(read_file(path)) << '\n';
#ifdef MJLAB_ONNXRUNTIME
    if (mode == "onnx") onnx(path, count > 3 ? words[3] : "");
#endif
  } catch (const ContractError& error) {
    std::cout << error.what() << '\n';
    return 1;
  }
  return 0;
}
