// Runs an exported policy on a robot: C++17, this header, and nothing else.
//
//     mjlab::Contract contract = mjlab::Contract::read("policy.contract.json");
//     mjlab::FilePolicy policy(contract, answer);  // calls your ONNX runtime
//     mjlab::CommandSource source(contract);
//     mjlab::Safety safety(contract);
//     std::string reason = mjlab::run(policy, robot, source, safety, 500);
//
// `robot` is your implementation of `RobotInterface`. `reason` is empty if the loop ran
// to its end without a safety stop.
//
// With MJLAB_ONNXRUNTIME defined, `OnnxFile` reads both contract and policy from the
// ONNX file, with onnxruntime's C API.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <locale>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifdef MJLAB_ONNXRUNTIME
#include <onnxruntime_c_api.h>
#endif

namespace mjlab {

using Numbers = std::vector<float>;
using Arrays = std::map<std::string, Numbers>;
using Vector = std::array<double, 3>;
using Quaternion = std::array<double, 4>;  // wxyz

constexpr int kFormat = 4;  // Supported version of the contract.
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Thrown for an invalid contract, or a robot that differs from the contract.
class ContractError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// --- JSON ----------------------------------------------------------------------------

// JSON value with its path, for error messages.
class Json {
 public:
  enum class Kind { kNull, kBool, kNumber, kText, kList, kObject };

  Kind kind = Kind::kNull;
  bool flag = false;
  double value = 0.0;
  std::string letters;
  std::vector<std::string> names;  // Of an object, in its order.
  std::vector<Json> items;         // Of a list, or of an object.
  std::string place;               // Such as ".inputs[2].shape".

  const Json* find(const std::string& name) const {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return &items[i];
    return nullptr;
  }
  const Json& operator[](const std::string& name) const {
    expect(Kind::kObject, "an object");
    const Json* found = find(name);
    if (!found) throw ContractError("The contract has no " + place + "." + name);
    return *found;
  }
  bool is_null() const { return kind == Kind::kNull; }
  double number() const { return expect(Kind::kNumber, "a number").value; }
  float number_or(float other) const {
    return is_null() ? other : static_cast<float>(number());
  }
  const std::string& text() const { return expect(Kind::kText, "a text").letters; }
  std::string text_or(const std::string& other) const {
    return is_null() ? other : text();
  }
  const std::vector<Json>& list() const { return expect(Kind::kList, "a list").items; }
  std::size_t count() const {
    const double found = number();
    if (found < 0 || found > 1e9 || found != std::floor(found))
      throw ContractError(place + " is not a count");
    return static_cast<std::size_t>(found);
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> found;
    for (const Json& item : list()) found.push_back(item.text());
    return found;
  }
  Numbers numbers() const {
    Numbers found;
    for (const Json& item : list()) found.push_back(static_cast<float>(item.number()));
    return found;
  }
  Vector vector() const {
    if (list().size() != 3) throw ContractError(place + " is not three numbers");
    return {items[0].number(), items[1].number(), items[2].number()};
  }

 private:
  const Json& expect(Kind wanted, const char* said) const {
    if (kind != wanted) throw ContractError(place + " is not " + said);
    return *this;
  }
};

// JSON parser (RFC 8259). Duplicate names are an error.
class JsonReader {
 public:
  static Json read(const std::string& text) {
    JsonReader reader(text);
    Json found = reader.value("", 0);
    reader.space();
    if (reader.at_ != text.size()) reader.fail("expected the end");
    return found;
  }

 private:
  explicit JsonReader(const std::string& text) : text_(text) {
    digits_.imbue(std::locale::classic());  // A program's locale may use a comma.
  }

  const std::string& text_;
  std::istringstream digits_;  // One for all numbers: a new stream is slow.
  std::size_t at_ = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw ContractError("Not valid JSON: " + what + ", at byte " +
                        std::to_string(at_));
  }
  int peek() const {
    return at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : -1;
  }
  void space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') ++at_;
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  bool take_next(char wanted) {
    space();
    return take(wanted);
  }
  void expect(char wanted) {
    if (!take_next(wanted)) fail(std::string("expected ") + wanted);
  }
  bool take_word(const std::string& wanted) {
    if (text_.compare(at_, wanted.size(), wanted) != 0) return false;
    at_ += wanted.size();
    return true;
  }

  Json value(const std::string& place, int depth) {
    if (depth > 64) fail("more than 64 levels");
    space();
    Json found;
    found.place = place;
    if (take('{')) {
      object(found, depth);
    } else if (take('[')) {
      list(found, depth);
    } else if (peek() == '"') {
      found.kind = Json::Kind::kText;
      found.letters = quoted();
    } else if (take_word("true")) {
      found.kind = Json::Kind::kBool;
      found.flag = true;
    } else if (take_word("false")) {
      found.kind = Json::Kind::kBool;
    } else if (!take_word("null")) {
      found.kind = Json::Kind::kNumber;
      found.value = number();
    }
    return found;
  }

  void object(Json& found, int depth) {
    found.kind = Json::Kind::kObject;
    if (take_next('}')) return;
    do {
      space();
      const std::string name = quoted();
      if (found.find(name)) fail(found.place + "." + name + " appears twice");
      expect(':');
      found.items.push_back(value(found.place + "." + name, depth + 1));
      found.names.push_back(name);
    } while (take_next(','));
    expect('}');
  }

  void list(Json& found, int depth) {
    found.kind = Json::Kind::kList;
    if (take_next(']')) return;
    do {
      const std::string index = "[" + std::to_string(found.items.size()) + "]";
      found.items.push_back(value(found.place + index, depth + 1));
    } while (take_next(','));
    expect(']');
  }

  void digits() {
    if (peek() < '0' || peek() > '9') fail("expected a value");
    while (peek() >= '0' && peek() <= '9') ++at_;
  }

  double number() {
    const std::size_t start = at_;
    take('-');
    if (!take('0')) digits();
    if (take('.')) digits();
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      digits();
    }
    digits_.clear();
    digits_.str(text_.substr(start, at_ - start));
    double found = 0.0;
    if (!(digits_ >> found)) fail("a number is too large");
    return found;
  }

  std::string quoted() {
    if (!take('"')) fail("expected \"");
    std::string found;
    while (!take('"')) {
      if (peek() < ' ') fail("a string without an end, or with a control character");
      if (take('\\')) {
        escaped(found);
      } else {
        found += text_[at_++];
      }
    }
    return found;
  }

  void escaped(std::string& found) {
    static const std::string written = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    const std::size_t which = peek() < 0 ? std::string::npos : written.find(text_[at_]);
    if (which != std::string::npos) {
      ++at_;
      found += meant[which];
      return;
    }
    std::uint32_t code = unit();
    if (code >= 0xD800 && code < 0xDC00) {
      const std::uint32_t low = take('\\') ? unit() : 0;
      if (low < 0xDC00 || low > 0xDFFF) fail("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      fail("half of a surrogate pair");
    }
    utf8(found, code);
  }

  std::uint32_t unit() {
    static const std::string digits = "0123456789abcdef";
    if (!take('u')) fail("unknown escape after \\");
    std::uint32_t code = 0;
    for (int place = 0; place < 4; ++place, ++at_) {
      const int letter = peek() >= 'A' && peek() <= 'F' ? peek() + 32 : peek();
      const std::size_t digit = digits.find(static_cast<char>(letter));
      if (letter < 0 || digit == std::string::npos) fail("\\u without four digits");
      code = 16 * code + static_cast<std::uint32_t>(digit);
    }
    return code;
  }

  static void utf8(std::string& found, std::uint32_t code) {
    if (code < 0x80) {
      found += static_cast<char>(code);
      return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    const std::uint32_t head[] = {0, 0xC0, 0xE0, 0xF0};
    found += static_cast<char>(head[more] | (code >> (6 * more)));
    for (int rest = more - 1; rest >= 0; --rest)
      found += static_cast<char>(0x80 | ((code >> (6 * rest)) & 0x3F));
  }
};

// --- The contract --------------------------------------------------------------------

// Return the hash of a file, as in its contract.
inline std::string sha256(std::string bytes) {
  auto turn = [](std::uint32_t word, int by) { return word >> by | word << (32 - by); };
  // Fractions of the square and cube roots of the first primes.
  std::array<std::uint32_t, 8> state{};
  std::array<std::uint32_t, 64> keys{};
  std::size_t count = 0;
  for (int prime = 2; count < keys.size(); ++prime) {
    bool is_prime = true;
    for (int i = 2; i * i <= prime; ++i) is_prime = is_prime && prime % i;
    if (!is_prime) continue;
    auto fraction = [](long double root) {
      return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0L);
    };
    if (count < state.size()) state[count] = fraction(std::sqrt(1.0L * prime));
    keys[count++] = fraction(std::cbrt(1.0L * prime));
  }
  const std::uint64_t bits = 8 * static_cast<std::uint64_t>(bytes.size());
  bytes += static_cast<char>(0x80);
  while (bytes.size() % 64 != 56) bytes += '\0';
  for (int i = 7; i >= 0; --i) bytes += static_cast<char>(bits >> (8 * i));
  for (std::size_t block = 0; block < bytes.size(); block += 64) {
    std::array<std::uint32_t, 64> words{};
    for (std::size_t i = 0; i < 64; ++i)
      words[i / 4] = words[i / 4] << 8 | static_cast<unsigned char>(bytes[block + i]);
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t a = words[i - 15], b = words[i - 2];
      words[i] = words[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + words[i - 7] +
                 (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
    std::array<std::uint32_t, 8> s = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t e = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25);
      const std::uint32_t a = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
      const std::uint32_t first =
          s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + keys[i] + words[i];
      const std::uint32_t second = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      s = {{first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]}};
    }
    for (std::size_t i = 0; i < 8; ++i) state[i] += s[i];
  }
  std::string found = "sha256:";
  for (std::uint32_t word : state) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(word));
    found += digits;
  }
  return found;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ContractError(path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string joined(const std::vector<std::string>& names,
                          const std::string& between = ", ") {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : between) + name;
  return all;
}

// Return formatted text.
template <class... Values>
std::string with_numbers(const char* format, Values... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

// Named input or output of the file, with its shape.
struct Field {
  std::string name, dtype = "float32";
  std::vector<std::size_t> shape;
  std::string unit, frame;            // Empty if there is none or it is unknown.
  std::vector<std::string> elements;  // Names of the numbers, if known.
  Json measured;                      // How an input is measured.
  Numbers upright;  // A gravity sensor's reading for an upright root.
  std::string next;                   // Output with the next value of a state.
  Numbers initial;                    // First value of a state.

  std::size_t size() const {
    std::size_t found = 1;
    for (std::size_t length : shape) found *= length;
    return found;
  }
};

struct Command {
  std::string name;
  Numbers start, low, high;
};

struct Joint {
  std::string name, unit;
  float low, high, default_pos;
};

struct Actuator {
  std::string target;
  float stiffness, damping, effort_limit;  // Infinite effort limit: none.
};

// Action term: meaning of an output for the robot.
struct Action {
  std::string name, output, entity, quantity, relative_to;
  std::vector<std::string> targets;
};

// Muscle controller of an action term: excitations in each physics step.
struct Controller {
  std::string action, model;  // `model` is the metadata key of its ONNX model.
  std::vector<Field> inputs, states, outputs;
};

// Contract; `contract.schema.json` documents it.
class Contract {
 public:
  Json json;  // The whole contract.
  std::string task, checksum, robot, prefix, root;
  double dt = 0.0, physics_dt = 0.0;  // Seconds of a control period and physics step.
  bool is_fixed = false;
  std::vector<Field> inputs, states, outputs;
  std::vector<Command> commands;
  std::vector<Joint> joints;
  std::vector<Actuator> actuators;
  std::vector<Action> actions;
  std::vector<Controller> controllers;
  std::vector<std::pair<std::size_t, std::size_t>> clips;  // First row, row count.

  explicit Contract(const std::string& text) : json(JsonReader::read(text)) {
    if (json["format"].number() != kFormat)
      throw ContractError(with_numbers("The contract has format %g, and this header "
                                       "reads %d: export the policy again",
                                       json["format"].number(), kFormat));
    const std::string& order = json["conventions"]["quaternions"].text();
    if (order != "wxyz") throw ContractError("Quaternions are " + order + ", not wxyz");
    task = json["task"].text();
    checksum = json["checksum"].text();
    robot = json["robot"].text();
    dt = json["rates"]["control_dt"].number();
    if (!(dt > 0.0)) throw ContractError("The control period is not above 0 s");
    physics_dt = json["rates"]["physics_dt"].number();
    read_graph(json, inputs, states, outputs);
    for (const Json& each : json["commands"].list()) commands.push_back(command(each));
    for (const Json& each : json["actions"].list()) {
      actions.push_back(action(each));
      if (const Json* by = each.find("tracked_by")) {
        Controller found{actions.back().name, (*by)["model"].text(), {}, {}, {}};
        read_graph(*by, found.inputs, found.states, found.outputs);
        controllers.push_back(std::move(found));
      }
    }
    if (const Json* motion = json.find("motion"))
      for (const Json& clip : (*motion)["clips"].list())
        clips.emplace_back(clip["first"].count(), clip["frames"].count());
    read_robot(json["entities"][robot]);
  }

  // Read a contract. A line on the standard error names the inputs that a simulation
  // computes with the file's world model, which this header does not run.
  static Contract read(const std::string& path) {
    Contract found(read_file(path));
    const std::vector<std::string> names = found.of_world();
    if (!names.empty())
      std::cerr << path << ": measure these inputs yourself, because this header does "
                << "not run the world model of the file: " << joined(names) << '\n';
    return found;
  }

  // Return the names of the inputs that the file's world model computes.
  std::vector<std::string> of_world() const {
    std::vector<std::string> names;
    if (const Json* world = json.find("world"))
      for (const Json& each : (*world)["outputs"].list())
        names.push_back(each["name"].text());
    return names;
  }

  // Return the muscle controller of an action term.
  const Controller& controller(const std::string& name) const {
    for (const Controller& each : controllers)
      if (each.action == name) return each;
    throw ContractError("The file has no muscle controller for '" + name + "'");
  }

  // Raise if the bytes are not the ONNX file of the contract.
  void check_file(std::string bytes) const {
    const std::string none = "sha256:" + std::string(64, '0');
    std::size_t at = bytes.find(checksum);
    if (at == std::string::npos)
      throw ContractError("The contract belongs to another file");
    for (; at != std::string::npos; at = bytes.find(checksum, at))
      bytes.replace(at, none.size(), none);
    if (sha256(std::move(bytes)) != checksum)
      throw ContractError(
          "The file is damaged: its content does not match its checksum");
  }

 private:
  static void read_graph(const Json& from, std::vector<Field>& inputs,
                         std::vector<Field>& states, std::vector<Field>& outputs) {
    for (const Json& each : from["inputs"].list()) inputs.push_back(input(each));
    for (const Json& each : from["states"].list()) states.push_back(state(each));
    for (const Json& each : from["outputs"].list()) outputs.push_back(output(each));
  }
  static std::vector<std::size_t> shape(const Json& list) {
    std::vector<std::size_t> found;
    for (const Json& length : list.list()) found.push_back(length.count());
    return found;
  }
  static Field field(const Json& json) {
    Field found;
    found.name = json["name"].text();
    found.shape = shape(json["shape"]);
    return found;
  }
  static Field described(const Json& json) {
    Field found = field(json);
    const Json& unit = json["unit"];
    if (unit.kind != Json::Kind::kList) {
      found.unit = unit.text_or("");
    } else {
      std::vector<std::string> units;
      for (const std::string& each : unit.texts())
        if (std::find(units.begin(), units.end(), each) == units.end())
          units.push_back(each);
      found.unit = joined(units, " and ");
    }
    if (!json["elements"].is_null()) found.elements = json["elements"].texts();
    return found;
  }
  static Field input(const Json& json) {
    static const std::set<std::string> known = {
        "given",          "command",  "clip_row",    "joint_pos",
        "joint_vel",      "sensor",   "root_quat_w", "root_ang_vel_b",
        "root_lin_vel_b", "body_pos", "body_quat",   "mujoco",
        "target"};
    Field found = described(json);
    found.dtype = json["dtype"].text();
    found.frame = json["frame"].text_or("");
    found.measured = json["measured"];
    const std::string& kind = found.measured["kind"].text();
    if (!known.count(kind))
      throw ContractError(found.name + " is measured by '" + kind +
                          "', which this header does not support");
    const Json* upright = json.find("upright");
    if (upright && !upright->is_null()) found.upright = upright->numbers();
    return found;
  }
  static Field state(const Json& json) {
    Field found = field(json);
    found.dtype = json["dtype"].text();
    found.next = json["next"].text();
    const Json& initial = json["initial"];
    if (initial.kind == Json::Kind::kList)
      found.initial = initial.numbers();
    else
      found.initial.assign(found.size(), static_cast<float>(initial.number()));
    if (found.initial.size() != found.size())
      throw ContractError(initial.place + " has a different size from the state");
    return found;
  }
  static Field output(const Json& json) { return described(json); }

  // Read pairs of lower and upper bounds, null for none.
  static void bounds(const Json& pairs, Numbers& low, Numbers& high) {
    for (const Json& pair : pairs.list()) {
      if (pair.list().size() != 2)
        throw ContractError(pair.place + " is not two numbers");
      low.push_back(pair.items[0].number_or(-kInfinity));
      high.push_back(pair.items[1].number_or(kInfinity));
    }
  }
  static Command command(const Json& json) {
    Command found;
    found.name = json["name"].text();
    found.start = json["start"].numbers();
    if (!json["range"].is_null()) {
      bounds(json["range"], found.low, found.high);
    } else {
      found.low.assign(found.start.size(), -kInfinity);
      found.high.assign(found.start.size(), kInfinity);
    }
    if (found.low.size() != found.start.size())
      throw ContractError("The range of " + found.name + " has a different width");
    return found;
  }

  static Action action(const Json& json) {
    Action found;
    found.name = json["name"].text();
    found.output = json["output"].text();
    found.entity = json["entity"].text();
    found.quantity = json["quantity"].text();
    found.relative_to = json["relative_to"].text_or("");
    found.targets = json[json.find("elements") ? "elements" : "targets"].texts();
    return found;
  }

  void read_robot(const Json& entity) {
    prefix = entity["prefix"].text();
    root = entity["root"]["frame"].text();
    is_fixed = entity["root"]["is_fixed"].flag;
    for (const Json& each : entity["joints"].list()) {
      const std::vector<Json>& limits = each["limits"].list();
      if (limits.size() != 2)
        throw ContractError(each.place + " is not a pair of limits");
      joints.push_back({each["name"].text(), each["unit"].text(),
                        limits[0].number_or(-kInfinity), limits[1].number_or(kInfinity),
                        static_cast<float>(each["default_pos"].number())});
    }
    for (const Json& each : entity["actuators"].list())
      actuators.push_back({each["target"].text(), each["stiffness"].number_or(0.0f),
                           each["damping"].number_or(0.0f),
                           each["effort_limit"].number_or(kInfinity)});
  }
};

// --- From a robot's state to the policy's inputs -------------------------------------

// State of a body of the model, from an estimator.
struct Body {
  Vector pos{};                   // In the world, m.
  Quaternion quat{{1, 0, 0, 0}};  // In the world.
  Vector lin_vel{}, ang_vel{};    // In the axes of the body, m/s and rad/s.
};

// State of a robot. Names are those of the model, with or without the prefix.
struct State {
  std::map<std::string, double> joint_pos, joint_vel;
  std::map<std::string, Body> bodies;
  Arrays sensors;
  Arrays given;  // Inputs that a model cannot determine, such as images, by name.
};

// Return a world frame vector in rotated axes.
inline Vector turned_back(const Quaternion& q, const Vector& v) {
  const double w = q[0], x = -q[1], y = -q[2], z = -q[3];
  const Vector t = {2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]),
                    2 * (x * v[1] - y * v[0])};
  return {v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2],
          v[2] + w * t[2] + x * t[1] - y * t[0]};
}

// Looks up inputs by name in a state.
class Measurer {
 public:
  Measurer(const Contract& contract, const State& state, const Arrays& commands)
      : contract_(contract), state_(state), commands_(commands) {}

  Arrays all(const std::vector<Field>& inputs) const {
    Arrays found;
    for (const Field& input : inputs) found[input.name] = one(input);
    return found;
  }

 private:
  const Contract& contract_;
  const State& state_;
  const Arrays& commands_;

  template <class Map>
  const typename Map::mapped_type& look(const Map& known, const std::string& name,
                                        const char* kind) const {
    auto found = known.find(name);
    const std::string& prefix = contract_.prefix;
    if (found == known.end() && name.compare(0, prefix.size(), prefix) == 0)
      found = known.find(name.substr(prefix.size()));
    if (found == known.end())
      throw ContractError(std::string("No reading for ") + kind + " " + name +
                          missing(known, name));
    return found->second;
  }
  // Describe the expected key and the existing keys.
  template <class Map>
  std::string missing(const Map& known, const std::string& name) const {
    const std::string& prefix = contract_.prefix;
    std::string said = ": set the key '" + name + "'";
    if (!prefix.empty() && name.compare(0, prefix.size(), prefix) == 0)
      said = ": set the key '" + name.substr(prefix.size()) + "' or '" + name + "'";
    std::vector<std::string> keys;
    for (const auto& each : known) keys.push_back("'" + each.first + "'");
    return said + (keys.empty() ? ", there are none" : ", there are " + joined(keys));
  }
  template <class Values>
  static Numbers single(const Values& values) {
    Numbers found;
    for (double each : values) found.push_back(static_cast<float>(each));
    return found;
  }

  Numbers one(const Field& input) const {
    const Json& how = input.measured;
    const std::string& kind = how["kind"].text();
    if (kind == "given" || kind == "mujoco")
      return look(state_.given, input.name, "input");
    if (kind == "target") return look(commands_, input.name, "output");
    if (kind == "command" || kind == "clip_row")
      return look(commands_, how["command"].text(), "command");
    if (kind == "sensor") return look(state_.sensors, how["name"].text(), "sensor");
    if (kind == "joint_pos" || kind == "joint_vel")
      return jointed(input, how["entity"].text(), kind == "joint_pos");
    const Body& body = look(state_.bodies, how["body"].text(), "body");
    if (kind == "body_pos") return single(body.pos);
    if (kind == "root_lin_vel_b") return single(body.lin_vel);
    if (kind == "root_ang_vel_b") return single(body.ang_vel);
    return single(body.quat);  // The remaining kinds are orientations.
  }

  Numbers jointed(const Field& input, const std::string& entity,
                  bool is_position) const {
    const std::string prefix = contract_.json["entities"][entity]["prefix"].text();
    Numbers found;
    for (const std::string& joint : input.elements) {
      const std::string name = prefix + joint;
      found.push_back(static_cast<float>(
          is_position ? look(state_.joint_pos, name, "joint")
                      : look(state_.joint_vel, name, "the velocity of joint")));
    }
    return found;
  }
};

// Return the policy's inputs, computed from the measured values.
inline Arrays measure(const Contract& contract, const State& state,
                      const Arrays& commands) {
  return Measurer(contract, state, commands).all(contract.inputs);
}

// Return the inputs of a muscle controller.
//
// `state.given` has the inputs of the kind `mujoco`, and `answer` the policy's outputs.
inline Arrays measure(const Contract& contract, const Controller& controller,
                      const State& state, const Arrays& answer) {
  return Measurer(contract, state, answer).all(controller.inputs);
}

// --- Policies ------------------------------------------------------------------------

using Call = std::function<void(const float*, float*)>;

// Return the width, elements, unit and frame of an input, for a message.
inline std::string takes(const Field& input) {
  return std::to_string(input.size()) + " numbers" +
         (input.elements.empty() ? "" : " (" + joined(input.elements) + ")") +
         (input.unit.empty() || input.unit == "1" ? "" : ", in " + input.unit) +
         (input.frame.empty() ? "" : ", in the axes of " + input.frame);
}

// Return an input; raise if it is missing or has the wrong width.
inline const Numbers& checked(const Arrays& measured, const Field& input) {
  const auto found = measured.find(input.name);
  if (found == measured.end())
    throw ContractError(input.name +
                        " is missing from the readings: the policy expects " +
                        takes(input));
  if (found->second.size() != input.size())
    throw ContractError(input.name + " has " + std::to_string(found->second.size()) +
                        " numbers: the policy expects " + takes(input));
  return found->second;
}

// Maps inputs to outputs, by their names in the contract, once per control period.
class Policy {
 public:
  explicit Policy(const Contract& of) : contract(of) {}
  virtual ~Policy() = default;
  virtual Arrays operator()(const Arrays& measured) = 0;
  virtual void reset() = 0;
  // Return the last action that the next call receives; empty if it receives none.
  virtual Numbers last_action() const { return {}; }

  const Contract contract;
};

// Graph of the file, with its state.
//
// The call takes all inputs and then all states, in the order of the contract, and
// returns all outputs and then the next states.
class Graph {
 public:
  Graph(std::vector<Field> inputs, std::vector<Field> states,
        std::vector<Field> outputs, Call answer)
      : inputs_(std::move(inputs)),
        states_(std::move(states)),
        outputs_(std::move(outputs)),
        answer_(std::move(answer)) {
    for (const Field& input : inputs_) size_ += input.size();
    for (const Field& output : outputs_) out_.resize(out_.size() + output.size());
    answers_ = out_.size();
    for (const Field& state : states_) out_.resize(out_.size() + state.size());
    reset();
  }

  void reset() {
    state_.clear();
    for (const Field& each : states_)
      state_.insert(state_.end(), each.initial.begin(), each.initial.end());
  }

  // Return the state of this name for the next call; empty if there is none.
  Numbers state(const std::string& name) const {
    auto at = state_.begin();
    for (const Field& each : states_) {
      const auto end = at + static_cast<long>(each.size());
      if (each.name == name) return {at, end};
      at = end;
    }
    return {};
  }

  Arrays operator()(const Arrays& measured) {
    Numbers in;
    in.reserve(size_ + state_.size());
    for (const Field& input : inputs_) {
      const Numbers& values = checked(measured, input);
      in.insert(in.end(), values.begin(), values.end());
    }
    in.insert(in.end(), state_.begin(), state_.end());
    answer_(in.data(), out_.data());
    Arrays found;
    auto at = out_.begin();
    for (const Field& output : outputs_) {
      const auto end = at + static_cast<long>(output.size());
      found[output.name] = Numbers(at, end);
      at = end;
    }
    state_.assign(out_.begin() + static_cast<long>(answers_), out_.end());
    return found;
  }

 private:
  std::vector<Field> inputs_, states_, outputs_;
  Call answer_;
  std::size_t size_ = 0, answers_ = 0;
  Numbers state_, out_;
};

// Policy of the ONNX file, including scales, offsets, clips and histories.
class FilePolicy : public Policy {
 public:
  FilePolicy(const Contract& of, Call answer)
      : Policy(of),
        graph_(contract.inputs, contract.states, contract.outputs, std::move(answer)) {}

  void reset() override { graph_.reset(); }
  Numbers last_action() const override { return graph_.state("state_last_action"); }
  Arrays operator()(const Arrays& measured) override { return graph_(measured); }

 private:
  Graph graph_;
};

// --- The loop ------------------------------------------------------------------------

// Target of one joint, tendon or site, identified by name.
struct Target {
  std::string name, quantity;  // Such as "FR_hip_joint" and "joint_pos".
  std::string relative_to;     // Empty, or the position that the robot adds, and when.
  float value;
};

// Return the targets in a policy's outputs.
inline std::vector<Target> targets_of(const Contract& contract, const Arrays& answer) {
  std::vector<Target> found;
  for (const Action& term : contract.actions) {
    const Numbers& values = answer.at(term.output);
    if (values.size() != term.targets.size())
      throw ContractError(term.output + " has a different width from its targets");
    for (std::size_t i = 0; i < values.size(); ++i)
      found.push_back({term.targets[i], term.quantity, term.relative_to, values[i]});
  }
  return found;
}

// Muscle controller of the file: call it once per physics step.
class MuscleController {
 public:
  MuscleController(const Controller& of, Call answer)
      : controller(of), graph_(of.inputs, of.states, of.outputs, std::move(answer)) {}

  void reset() { graph_.reset(); }

  // Return the excitation of each muscle, by name.
  std::vector<Target> operator()(const Arrays& measured) {
    const Field& output = controller.outputs.at(0);
    const Numbers values = graph_(measured).at(output.name);
    std::vector<Target> found;
    for (std::size_t i = 0; i < values.size(); ++i)
      found.push_back({output.elements.at(i), "excitation", "", values[i]});
    return found;
  }

  const Controller controller;

 private:
  Graph graph_;
};

// Gains of a motor; NaN if unknown, infinite without a limit.
struct Gains {
  double stiffness = std::nan(""), damping = std::nan(""), effort_limit = std::nan("");
};

// Robot interface of the control loop.
class RobotInterface {
 public:
  virtual ~RobotInterface() = default;
  // Return the current readings of the policy's inputs, by name; see `measure`.
  virtual Arrays read(const Arrays& commands) = 0;
  virtual void write(const std::vector<Target>& targets) = 0;
  // Discard all targets and damp the joints. Called in every period of a stop.
  virtual void damp() = 0;
  // Wait for the end of the control period; see `Pacer`.
  virtual void wait() = 0;
  // Return the time of the clock that measures the control periods, s.
  virtual double now() = 0;
  // Return the joint positions, rad or m, in the contract's order.
  virtual std::vector<double> joint_pos() = 0;
  // Return the cosine of the angle between the root's z axis and the vertical.
  virtual double upright() = 0;
  // Return the motor gains by target, as far as they are readable; `run` compares them
  // with the contract before the first period.
  virtual std::map<std::string, Gains> gains() { return {}; }
};

// Waits for the end of each period; a late period shifts the following ones.
class Pacer {
 public:
  explicit Pacer(double period)
      : period_(std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(period))),
        due_(Clock::now()) {}
  void wait() {
    due_ = std::max(due_ + period_, Clock::now());
    std::this_thread::sleep_until(due_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::duration period_;
  Clock::time_point due_;
};

// Constant commands, within the ranges of training.
class CommandSource {
 public:
  explicit CommandSource(const Contract& contract) : known_(contract.commands) {
    for (const Command& each : known_) values[each.name] = each.start;
  }
  virtual ~CommandSource() = default;

  Arrays values;

  void set(const std::string& name, Numbers wanted) {
    for (const Command& each : known_) {
      if (each.name != name) continue;
      const bool is_finite = std::all_of(wanted.begin(), wanted.end(), [](float value) {
        return std::isfinite(value);
      });
      if (wanted.size() != each.start.size() || !is_finite)
        throw ContractError(name + " needs " + std::to_string(each.start.size()) +
                            " numbers");
      for (std::size_t i = 0; i < wanted.size(); ++i)
        wanted[i] = std::clamp(wanted[i], each.low[i], each.high[i]);
      values[name] = std::move(wanted);
      return;
    }
    throw ContractError("There is no command '" + name + "'");
  }

  // Read new commands; return the age of the newest one, s. Infinite means stop.
  virtual double read() { return 0.0; }

 private:
  std::vector<Command> known_;
};

// Commands with an age: call `take` for each received packet.
class PacketSource : public CommandSource {
 public:
  PacketSource(const Contract& contract, std::function<double()> clock)
      : CommandSource(contract), clock_(std::move(clock)), came_(clock_()) {}
  void take(const std::string& name, Numbers wanted) {
    set(name, std::move(wanted));
    came_ = clock_();
  }
  double read() override { return clock_() - came_; }

 private:
  std::function<double()> clock_;
  double came_;
};

inline bool is_finite(const Numbers& values) {
  return std::all_of(values.begin(), values.end(),
                     [](float v) { return std::isfinite(v); });
}

constexpr double kPi = 3.14159265358979323846;

// Return the angle of a cosine, in degrees.
inline double tilt_of(double cosine) {
  return std::acos(std::clamp(cosine, -1.0, 1.0)) * 180.0 / kPi;
}

// Compares measured rates with the change of the corresponding values.
class RateCheck {
 public:
  // Describe rates with the wrong unit or sign.
  std::string fault(const std::string& what, const std::vector<double>& values,
                    const std::vector<double>& rates, double seconds) {
    const std::vector<double> old = std::exchange(values_, values),
                              old_rates = std::exchange(rates_, rates);
    if (old.size() != values.size() || !(seconds > 0.0) || std::isinf(seconds))
      return "";
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double change = (values[i] - old[i]) / seconds;
      const double mean = (rates[i] + old_rates[i]) / 2.0;
      squared_ += change * change;
      product_ += change * mean;
      other_ += mean * mean;
    }
    ++periods_;
    const double alike = product_ / std::max(std::sqrt(squared_ * other_), 1e-12);
    const double factor = product_ / std::max(squared_, 1e-12);
    if (periods_ >= 2 && alike > 0.9 && factor > 30.0 && factor < 100.0)
      return with_numbers("is %.3g times ", factor) + what +
             ": it is in degrees per second, expected rad/s";
    const double count = static_cast<double>(periods_ * values.size());
    if (periods_ >= 5 && squared_ > 0.01 * count && alike < -0.9)
      return "is the negative of " + what;
    return "";
  }

 private:
  std::vector<double> values_, rates_;
  double squared_ = 0.0, product_ = 0.0, other_ = 0.0;
  std::size_t periods_ = 0;
};

// Checks of the readings of each control period.
class ReadingChecks {
 public:
  // Tolerances: joint position, rad (a tenth of it in m), tilt of the root, degrees,
  // and norm of a unit vector.
  double apart = 0.3, lean = 20.0, length = 0.1;

  explicit ReadingChecks(const Contract& contract)
      : contract_(contract), rates_(contract.inputs.size()) {
    for (Field& each : contract_.inputs) {
      if (kind(each) != "root_quat_w") continue;
      // `vertical` converts the orientation to the downward direction.
      each.upright = {0.0f, 0.0f, -1.0f};
      each.frame = contract.root;
    }
  }

  // Describe the first invalid reading; empty if all are valid.
  //
  // `margin` is a joint's margin beyond its limit, rad; a tenth of it in m.
  std::string fault(const Arrays& measured, const std::vector<double>& joints,
                    double upright, double since, double margin) {
    for (const Field& input : contract_.inputs) checked(measured, input);
    if (joints.size() != contract_.joints.size())
      throw ContractError("joint_pos() returns " + std::to_string(joints.size()) +
                          " numbers, but the contract has " +
                          std::to_string(contract_.joints.size()) + " joints");
    std::string said = nonfinite(measured, joints);
    if (said.empty()) said = beyond(measured, joints, margin);
    if (said.empty()) said = contradicted(measured, joints);
    if (said.empty()) said = long_or_short(measured);
    if (said.empty()) said = fast(measured, joints, since);
    if (said.empty()) said = leaning(measured, upright);
    return said;
  }

 private:
  Contract contract_;
  std::vector<RateCheck> rates_;

  static const std::string& kind(const Field& input) {
    return input.measured["kind"].text();
  }
  bool is_own(const Field& input, const char* wanted) const {
    return kind(input) == wanted &&
           input.measured["entity"].text() == contract_.robot;
  }
  // Return the vertical from a gravity sensor or from the root's orientation.
  static Vector vertical(const Field& input, const Numbers& values) {
    if (kind(input) != "root_quat_w") return {values[0], values[1], values[2]};
    return turned_back({values[0], values[1], values[2], values[3]}, {0, 0, -1});
  }
  // Return the name of an input's element.
  static std::string element(const Field& input, std::size_t place) {
    if (input.elements.empty() || input.size() == 1) return input.name;
    return input.name + " of " + input.elements.at(place);
  }
  double way(std::size_t joint, double of_hinge) const {
    return contract_.joints[joint].unit == "rad" ? of_hinge : 0.1 * of_hinge;
  }

  // Return the elements of an input with their joint indices.
  std::vector<std::pair<std::size_t, double>> by_joint(const Arrays& measured,
                                                       const Field& input) const {
    std::vector<std::pair<std::size_t, double>> found;
    const Numbers& values = checked(measured, input);
    for (std::size_t i = 0; i < input.elements.size(); ++i)
      for (std::size_t j = 0; j < contract_.joints.size(); ++j)
        if (input.elements[i] == contract_.joints[j].name)
          found.emplace_back(j, values.at(i));
    return found;
  }

  std::string nonfinite(const Arrays& measured,
                        const std::vector<double>& joints) const {
    for (const Field& input : contract_.inputs) {
      const Numbers& values = checked(measured, input);
      for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
          return element(input, i) + " is not a finite number";
    }
    for (std::size_t i = 0; i < joints.size(); ++i)
      if (!std::isfinite(joints[i]))
        return "joint_pos() of " + contract_.joints[i].name + " is not a finite number";
    return "";
  }

  bool is_within(std::size_t joint, double value, double margin) const {
    const double by = way(joint, margin);
    return value >= contract_.joints[joint].low - by &&
           value <= contract_.joints[joint].high + by;
  }
  std::string beyond_in(const std::string& what,
                        const std::vector<std::pair<std::size_t, double>>& positions,
                        double margin) const {
    for (const auto& [joint, value] : positions) {
      if (is_within(joint, value, margin)) continue;
      const Joint& of = contract_.joints[joint];
      std::string said =
          what + " of " + of.name +
          with_numbers(" is %.4g, beyond its limits %.4g to %.4g ", value,
                       static_cast<double>(of.low), static_cast<double>(of.high)) +
          of.unit;
      bool is_large = false, in_degrees = true;
      for (const auto& [other, found] : positions) {
        if (contract_.joints[other].unit != "rad") continue;
        is_large = is_large || std::abs(found) > kPi;
        in_degrees = in_degrees && is_within(other, found * kPi / 180.0, margin);
      }
      if (is_large && in_degrees)
        said +=
            with_numbers("; %.4g degrees are %.3g rad", value, value * kPi / 180.0);
      return said;
    }
    return "";
  }
  std::string beyond(const Arrays& measured, const std::vector<double>& joints,
                     double margin) const {
    for (const Field& input : contract_.inputs) {
      if (!is_own(input, "joint_pos")) continue;
      const std::string said =
          beyond_in(input.name, by_joint(measured, input), margin);
      if (!said.empty()) return said;
    }
    std::vector<std::pair<std::size_t, double>> own;
    for (std::size_t i = 0; i < joints.size(); ++i) own.emplace_back(i, joints[i]);
    return beyond_in("joint_pos()", own, margin);
  }

  std::string contradicted(const Arrays& measured,
                           const std::vector<double>& joints) const {
    for (const Field& input : contract_.inputs) {
      if (!is_own(input, "joint_pos")) continue;
      for (const auto& [joint, value] : by_joint(measured, input))
        if (std::abs(value - joints[joint]) > way(joint, apart))
          return input.name + " of " + contract_.joints[joint].name +
                 with_numbers(" is %.4g, but joint_pos() returns %.4g ", value,
                              joints[joint]) +
                 contract_.joints[joint].unit;
    }
    return "";
  }

  std::string long_or_short(const Arrays& measured) const {
    for (const Field& input : contract_.inputs) {
      const std::string& of = kind(input);
      if (input.upright.empty() && of != "body_quat") continue;
      double squares = 0.0;
      for (float value : checked(measured, input))
        squares += static_cast<double>(value) * value;
      if (std::abs(std::sqrt(squares) - 1.0) > length)
        return input.name +
               with_numbers(" has the length %.4g, expected 1", std::sqrt(squares));
    }
    return "";
  }

  // Compare velocities with positions, and gyros with the rotation of gravity.
  std::string fast(const Arrays& measured, const std::vector<double>& joints,
                   double since) {
    for (std::size_t i = 0; i < contract_.inputs.size(); ++i) {
      const Field& input = contract_.inputs[i];
      std::string what = "the change of the joint positions";
      std::vector<double> values, rates;
      if (is_own(input, "joint_vel")) {
        for (const auto& [joint, rate] : by_joint(measured, input)) {
          if (contract_.joints[joint].unit != "rad") continue;
          values.push_back(joints[joint]);
          rates.push_back(rate);
        }
      } else if (input.unit == "rad/s" &&
                 input.elements == std::vector<std::string>{"x", "y", "z"}) {
        const Field* gravity = vertical_in(input.frame);
        if (!gravity) continue;
        const Vector g = vertical(*gravity, checked(measured, *gravity));
        const Numbers& w = checked(measured, input);
        what = "the rotation of " + gravity->name;
        values.assign(g.begin(), g.end());
        // In the sensor's axes, a vector fixed in the world rotates by -gyro.
        rates = {g[1] * w[2] - g[2] * w[1], g[2] * w[0] - g[0] * w[2],
                 g[0] * w[1] - g[1] * w[0]};
      }
      if (values.empty()) continue;
      const std::string said = rates_[i].fault(what, values, rates, since);
      if (!said.empty()) return input.name + " " + said;
    }
    return "";
  }
  const Field* vertical_in(const std::string& frame) const {
    for (const Field& each : contract_.inputs)
      if (!each.upright.empty() && each.frame == frame) return &each;
    return nullptr;
  }

  std::string leaning(const Arrays& measured, double upright) const {
    for (const Field& input : contract_.inputs) {
      if (input.upright.size() != 3) continue;
      const Vector down = vertical(input, checked(measured, input));
      double cosine = 0.0;
      for (std::size_t i = 0; i < 3; ++i) cosine += down[i] * input.upright[i];
      if (std::abs(tilt_of(cosine) - tilt_of(upright)) > lean)
        return input.name +
               with_numbers(" implies a tilt of %.0f degrees, and "
                            "upright() %.0f",
                            tilt_of(cosine), tilt_of(upright));
    }
    return "";
  }
};

// Detects reasons to stop the robot.
class Safety {
 public:
  double margin = 0.1;   // Allowed beyond a joint limit, rad; a tenth of that in m.
  double tilt = 60.0;    // Angle from upright that is a fall, degrees.
  double periods = 1.5;  // Maximum time between two steps, in control periods.
  double late = 0.5;     // Maximum age of a command, s.

  explicit Safety(const Contract& contract) : checks_(contract), dt_(contract.dt) {}

  // Describe a fault in the readings; empty without a fault.
  std::string fault(RobotInterface& robot, const Arrays& measured, double age) {
    const double now = robot.now(), since = now - last_;
    last_ = now;
    const double upright = robot.upright();
    const std::string said =
        checks_.fault(measured, robot.joint_pos(), upright, since, margin);
    if (!said.empty()) return said;
    if (!(upright >= std::cos(tilt * kPi / 180.0)))
      return with_numbers("the robot fell: the tilt is %.0f degrees, more than %g",
                          tilt_of(upright), tilt);
    if (age == std::numeric_limits<double>::infinity())
      return "a key or button stopped it";
    if (!(age <= late)) return with_numbers("the newest command is %.2f s old", age);
    if (!std::isinf(since) && !(since <= periods * dt_))
      return with_numbers("the last step was %.3f s ago", since);
    return "";
  }

 private:
  ReadingChecks checks_;
  double dt_, last_ = -std::numeric_limits<double>::infinity();
};

// Raise if the robot's gains differ from the contract.
inline void refuse_gains(const Contract& contract, RobotInterface& robot) {
  const std::map<std::string, Gains> known = robot.gains();
  for (const Actuator& each : contract.actuators) {
    const auto found = known.find(each.target);
    if (found == known.end()) continue;
    const std::pair<double, double> pairs[] = {
        {found->second.stiffness, each.stiffness},
        {found->second.damping, each.damping},
        {found->second.effort_limit, each.effort_limit}};
    const char* names[] = {"stiffness", "damping", "effort_limit"};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [value, wanted] = pairs[i];
      if (std::isnan(value) || value == wanted) continue;
      if (std::abs(value - wanted) <= 1e-3 * std::abs(wanted)) continue;
      throw ContractError("gains of " + each.target + ": " + names[i] +
                          with_numbers(" is %.4g on the robot, but %.4g in the "
                                       "contract",
                                       value + 0.0, wanted + 0.0));
    }
  }
}

// Control period, for a log.
struct Period {
  double time;
  const std::string& damped;  // Reason for the stop; empty without a stop.
  const Arrays& commands;
  const Arrays& measured;
  const Arrays& answer;
  const Numbers& last_action;  // As passed to the policy; empty if it takes none.
  const std::string& policy;   // The checksum of the policy's file.
};

// Return a period as one line of JSON, for `verify --log`.
inline std::string log_line(const Period& period) {
  std::ostringstream line;
  line.imbue(std::locale::classic());
  line.precision(9);
  auto quoted = [&](const std::string& text) {
    line << '"';
    for (char letter : text) {
      if (letter == '"' || letter == '\\') line << '\\';
      line << (letter >= 0 && letter < ' ' ? ' ' : letter);
    }
    line << '"';
  };
  auto list = [&](const Numbers& values) {
    const char* before = "[";
    for (float value : values) {
      line << before;
      before = ", ";
      if (std::isnan(value)) {
        line << "NaN";
      } else if (std::isinf(value)) {
        line << (value < 0.0f ? "-Infinity" : "Infinity");
      } else {
        line << value;
      }
    }
    line << (values.empty() ? "[]" : "]");
  };
  auto object = [&](const char* name, const Arrays& arrays) {
    line << ", \"" << name << "\": {";
    const char* before = "";
    for (const auto& [key, values] : arrays) {
      line << before;
      before = ", ";
      quoted(key);
      line << ": ";
      list(values);
    }
    line << '}';
  };
  line << std::setprecision(15) << "{\"time\": " << period.time
       << std::setprecision(9) << ", \"damped\": ";
  if (period.damped.empty()) {
    line << "null";
  } else {
    quoted(period.damped);
  }
  object("commands", period.commands);
  object("measured", period.measured);
  object("targets", period.answer);
  if (!period.last_action.empty()) {
    line << ", \"last_action\": ";
    list(period.last_action);
  }
  line << ", \"policy\": ";
  quoted(period.policy);
  line << '}';
  return line.str();
}

// Run a policy on a robot; return the reason for the stop, empty without one.
//
// A policy with motion clips starts at the frame with index `first_row`.
inline std::string run(Policy& policy, RobotInterface& robot, CommandSource& source,
                       Safety& safety, long steps,
                       const std::function<void(const Period&)>& log = {},
                       std::size_t first_row = 0) {
  std::string reason;
  Numbers action;  // Last action.
  std::size_t last_row = first_row;
  for (const auto& [first, rows] : policy.contract.clips)
    if (first <= first_row) last_row = first + rows - 1;
  try {
    refuse_gains(policy.contract, robot);
    for (long step = 0; step < steps; ++step) {
      const double age = source.read();
      Arrays commands = source.values, answer;
      if (!policy.contract.clips.empty())
        commands["time_step"] = {static_cast<float>(
            std::min(first_row + static_cast<std::size_t>(step), last_row))};
      const Arrays measured = robot.read(commands);
      const Numbers kept = policy.last_action();
      if (reason.empty() && !action.empty() && !kept.empty() && kept != action)
        reason =
            "state_last_action is not the action of the last period: the policy was "
            "reset, or its state was replaced";
      if (reason.empty()) reason = safety.fault(robot, measured, age);
      if (reason.empty()) {
        answer = policy(measured);
        for (const auto& [name, values] : answer)
          if (!is_finite(values)) reason = "the policy's output is not finite";
      }
      if (reason.empty()) {
        const auto raw = answer.find("action");
        action = raw == answer.end() ? Numbers() : raw->second;
        robot.write(targets_of(policy.contract, answer));
      } else {
        answer.clear();
        robot.damp();
      }
      if (log)
        log({robot.now(), reason, commands, measured, answer, kept,
             policy.contract.checksum});
      robot.wait();
    }
  } catch (...) {
    robot.damp();
    throw;
  }
  return reason;
}

// --- onnxruntime ---------------------------------------------------------------------

#ifdef MJLAB_ONNXRUNTIME

// Return the bytes of a base64 text.
inline std::string decoded(const std::string& text) {
  static const std::string letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint32_t, 256> place{};
  for (std::uint32_t i = 0; i < 64; ++i)
    place[static_cast<unsigned char>(letters[i])] = i;
  std::string found;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char letter : text.substr(0, text.find('='))) {
    if (letters.find(letter) == std::string::npos)
      throw ContractError("A model in the file is not valid base64");
    bits = bits << 6 | place[static_cast<unsigned char>(letter)];
    count += 6;
    if (count < 8) continue;
    count -= 8;
    found += static_cast<char>(bits >> count & 0xFF);
  }
  return found;
}

// ONNX file in onnxruntime, on one thread: contract and inference.
//
//     mjlab::OnnxFile file("policy.onnx");
//     mjlab::FilePolicy policy(file.contract, file.call());
//
// For muscles, in each physics step:
//
//     mjlab::MuscleController muscles(file.contract.controller("muscles"),
//                                     file.call("muscles"));
class OnnxFile {
 public:
  explicit OnnxFile(const std::string& path) : OnnxFile(path, read_file(path)) {}
  OnnxFile(const OnnxFile&) = delete;  // `call()` refers to this object.

  const OrtApi* const api = OrtGetApiBase()->GetApi(ORT_API_VERSION);

 private:
  template <class T>
  using Owned = std::unique_ptr<T, void(ORT_API_CALL*)(T*)>;

  // Declared before the contract, because they are needed to read it.
  Owned<OrtEnv> env_;
  Owned<OrtSession> session_;
  Owned<OrtMemoryInfo> memory_;

 public:
  const Contract contract;

  // Return the function for `FilePolicy`, valid as long as this object.
  Call call() {
    return [this](const float* in, float* out) {
      answer(*session_, contract.inputs, contract.states, contract.outputs, in, out);
    };
  }

  // Return the function for `MuscleController`, valid as long as this object.
  Call call(const std::string& action) {
    const Controller& of = contract.controller(action);
    std::shared_ptr<OrtSession> muscles = session(of.model, decoded(text(of.model)));
    return [this, &of, muscles](const float* in, float* out) {
      answer(*muscles, of.inputs, of.states, of.outputs, in, out);
    };
  }

 private:
  OnnxFile(const std::string& path, const std::string& bytes)
      : env_(environment()),
        session_(session(path, bytes)),
        memory_(memory()),
        contract(text("contract")) {
    contract.check_file(bytes);
    for (const auto* fields : {&contract.inputs, &contract.states})
      for (const Field& each : *fields)
        if (each.dtype != "float32" && each.dtype != "uint8")
          throw ContractError(each.name + " has the type " + each.dtype +
                              ", which this header does not know");
  }

  void check(OrtStatus* status) const {
    if (!status) return;
    const std::string said = api->GetErrorMessage(status);
    api->ReleaseStatus(status);
    throw ContractError("onnxruntime: " + said);
  }

  Owned<OrtEnv> environment() const {
    if (!api) throw ContractError("onnxruntime is older than its header");
    OrtEnv* made = nullptr;
    check(api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "mjlab", &made));
    return {made, api->ReleaseEnv};
  }

  Owned<OrtSession> session(const std::string& path, const std::string& bytes) const {
    OrtSessionOptions* made = nullptr;
    check(api->CreateSessionOptions(&made));
    Owned<OrtSessionOptions> options(made, api->ReleaseSessionOptions);
    check(api->SetIntraOpNumThreads(made, 1));
    check(api->SetInterOpNumThreads(made, 1));
    OrtSession* session = nullptr;
    try {
      check(api->CreateSessionFromArray(env_.get(), bytes.data(), bytes.size(), made,
                                        &session));
    } catch (const ContractError& error) {
      throw ContractError(path + " cannot be loaded: " + error.what());
    }
    return {session, api->ReleaseSession};
  }

  Owned<OrtMemoryInfo> memory() const {
    OrtMemoryInfo* made = nullptr;
    check(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &made));
    return {made, api->ReleaseMemoryInfo};
  }

  // Return a metadata text of the file.
  std::string text(const std::string& key) const {
    OrtAllocator* allocator = nullptr;
    check(api->GetAllocatorWithDefaultOptions(&allocator));
    OrtModelMetadata* made = nullptr;
    check(api->SessionGetModelMetadata(session_.get(), &made));
    Owned<OrtModelMetadata> metadata(made, api->ReleaseModelMetadata);
    char* text = nullptr;
    check(api->ModelMetadataLookupCustomMetadataMap(made, allocator, key.c_str(),
                                                    &text));
    if (!text)
      throw ContractError("The file has no " + key + ": export did not write it");
    const std::string found = text;
    check(api->AllocatorFree(allocator, text));
    return found;
  }

  void answer(OrtSession& session, const std::vector<Field>& inputs,
              const std::vector<Field>& states, const std::vector<Field>& outputs,
              const float* in, float* out) const {
    std::vector<const char*> names, wanted;
    std::vector<Owned<OrtValue>> values, answers;
    std::vector<std::vector<std::uint8_t>> bytes;
    for (const auto* fields : {&inputs, &states})
      for (const Field& each : *fields) {
        names.push_back(each.name.c_str());
        bytes.emplace_back(in, in + (each.dtype == "uint8" ? each.size() : 0));
        values.push_back(tensor(each, in, bytes.back()));
        in += each.size();
      }
    for (const Field& each : outputs) wanted.push_back(each.name.c_str());
    for (const Field& each : states) wanted.push_back(each.next.c_str());
    std::vector<const OrtValue*> given;
    for (const Owned<OrtValue>& each : values) given.push_back(each.get());
    std::vector<OrtValue*> found(wanted.size(), nullptr);
    OrtStatus* status =
        api->Run(&session, nullptr, names.data(), given.data(), given.size(),
                 wanted.data(), wanted.size(), found.data());
    for (OrtValue* each : found) answers.emplace_back(each, api->ReleaseValue);
    check(status);
    std::size_t at = 0;
    for (const auto* fields : {&outputs, &states})
      for (const Field& each : *fields) out = copied(each, found[at++], out);
  }

  Owned<OrtValue> tensor(const Field& field, const float* values,
                         std::vector<std::uint8_t>& bytes) const {
    const bool is_bytes = field.dtype == "uint8";
    const std::vector<std::int64_t> shape(field.shape.begin(), field.shape.end());
    // Read only, although the type is not const.
    void* data = is_bytes ? static_cast<void*>(bytes.data())
                          : const_cast<void*>(static_cast<const void*>(values));
    OrtValue* made = nullptr;
    check(api->CreateTensorWithDataAsOrtValue(
        memory_.get(), data, field.size() * (is_bytes ? 1 : sizeof(float)),
        shape.data(), shape.size(),
        is_bytes ? ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8
                 : ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
        &made));
    return {made, api->ReleaseValue};
  }

  float* copied(const Field& field, OrtValue* value, float* out) const {
    void* data = nullptr;
    check(api->GetTensorMutableData(value, &data));
    const std::size_t size = field.size();
    if (field.dtype == "uint8")
      return std::copy_n(static_cast<const std::uint8_t*>(data), size, out);
    return std::copy_n(static_cast<const float*>(data), size, out);
  }
};

#endif

}  // namespace mjlab
