/** Drawing of a MuJoCo model with three.js. */

import type { MainModule, MjData, MjModel } from "@mujoco/mujoco";
import * as THREE from "three";

/** Geom groups that MuJoCo's viewers show by default. */
const SHOWN_GROUPS = 3;
/** Radii of a tendon without and with full activation, m. */
const TENDON_RADII: [number, number] = [0.005, 0.011];
/** Time constant of the camera, s. */
const FOLLOW_S = 0.12;
const SKY = new THREE.Color(0xd9e4ec);
const [RELAXED, ACTIVE] = [new THREE.Color(0x4a6fa5), new THREE.Color(0xd7263d)];

/** Ray from the camera, in the axes of the world. */
export interface Ray {
  from: THREE.Vector3;
  direction: THREE.Vector3;
}

/** Canvas with a camera that follows the robot, and one model at a time. */
export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(45, 1, 0.02, 200);
  private readonly renderer: THREE.WebGLRenderer;
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2.2);
  private readonly target = new THREE.Vector3();
  private yaw = -2.4;
  private pitch = 0.35;
  private distance = 2.5;

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.camera.up.set(0, 0, 1);
    this.scene.background = SKY;
    this.scene.fog = new THREE.Fog(SKY, 12, 40);
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8a8f94, 1.6));
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.normalBias = 0.02;
    this.scene.add(this.sun, this.sun.target);
  }

  /** Start to view a robot from a distance that fits its size. */
  view(size: number, at: ArrayLike<number>): void {
    this.distance = Math.min(Math.max(2.6 * size, 0.8), 8);
    const reach = 1.5 * this.distance;
    const shadow = this.sun.shadow.camera;
    [shadow.left, shadow.right, shadow.top, shadow.bottom] = [-reach, reach, reach, -reach];
    shadow.updateProjectionMatrix();
    this.target.set(at[0], at[1], at[2]);
  }

  /** Keep a point in the middle, moving the camera smoothly, after some seconds. */
  follow(at: ArrayLike<number>, seconds: number): void {
    const share = 1 - Math.exp(-seconds / FOLLOW_S);
    this.target.lerp(new THREE.Vector3(at[0], at[1], at[2]), share);
  }

  /** Turn the camera by pixels of a drag. */
  turn(dx: number, dy: number): void {
    this.yaw -= dx * 0.006;
    this.pitch = Math.min(Math.max(this.pitch + dy * 0.006, -0.1), 1.5);
  }

  /** Draw with less work: first without shadows, then with fewer pixels. */
  simplify(): void {
    if (this.sun.castShadow) {
      this.sun.castShadow = false;
    } else {
      this.renderer.setPixelRatio(Math.max(0.5, 0.7 * this.renderer.getPixelRatio()));
    }
  }

  /** Move the camera closer for a factor below 1. */
  zoom(factor: number): void {
    this.distance = Math.min(Math.max(this.distance * factor, 0.3), 20);
  }

  /** Ray through a point of the window. */
  ray(x: number, y: number): Ray {
    const point = new THREE.Vector2(
      (2 * x) / window.innerWidth - 1,
      1 - (2 * y) / window.innerHeight,
    );
    const caster = new THREE.Raycaster();
    caster.setFromCamera(point, this.camera);
    return { from: caster.ray.origin, direction: caster.ray.direction };
  }

  draw(): void {
    const [width, height] = [window.innerWidth, window.innerHeight];
    const size = this.renderer.getSize(new THREE.Vector2());
    if (size.x !== width || size.y !== height) {
      this.renderer.setSize(width, height, false);
      this.camera.aspect = width / height;
      this.camera.updateProjectionMatrix();
    }
    // A narrow window needs a longer distance for the same width.
    const away = this.distance * Math.max(1, 1 / this.camera.aspect);
    const flat = Math.cos(this.pitch) * away;
    const from = new THREE.Vector3(
      Math.cos(this.yaw) * flat,
      Math.sin(this.yaw) * flat,
      Math.sin(this.pitch) * away,
    );
    this.camera.position.copy(this.target).add(from);
    this.camera.position.z = Math.max(this.camera.position.z, 0.05);
    this.camera.lookAt(this.target);
    this.sun.position.copy(this.target).add(new THREE.Vector3(-2, -3, 6));
    this.sun.target.position.copy(this.target);
    this.renderer.render(this.scene, this.camera);
  }
}

/** Meshes of a model, moved with its data. */
export class Figure {
  private readonly group = new THREE.Group();
  private readonly geoms: { mesh: THREE.Object3D; id: number }[] = [];
  private readonly marks: THREE.Mesh[] = [];
  private readonly tendons: Tendons | null;
  private readonly arrow: THREE.ArrowHelper;

  constructor(
    private readonly stage: Stage,
    private readonly mujoco: MainModule,
    private readonly model: MjModel,
  ) {
    for (let id = 0; id < model.ngeom; id++) {
      const mesh = this.geomMesh(id);
      if (mesh !== null) {
        this.geoms.push({ mesh, id });
        this.group.add(mesh);
      }
    }
    this.tendons = model.ntendon > 0 ? new Tendons(model) : null;
    if (this.tendons !== null) {
      this.group.add(this.tendons.tubes);
    }
    this.arrow = new THREE.ArrowHelper();
    this.arrow.setColor(0xe07a1f);
    this.arrow.visible = false;
    this.group.add(this.arrow);
    stage.scene.add(this.group);
  }

  /** Copy the poses of the data. */
  update(data: MjData): void {
    const [xpos, xmat]: Float64Array[] = [data.geom_xpos, data.geom_xmat];
    for (const { mesh, id } of this.geoms) {
      const r = xmat.subarray(9 * id, 9 * id + 9);
      const p = xpos.subarray(3 * id, 3 * id + 3);
      mesh.matrix.set(
        ...([r[0], r[1], r[2], p[0], r[3], r[4], r[5], p[1]] as const),
        ...([r[6], r[7], r[8], p[2], 0, 0, 0, 1] as const),
      );
    }
    this.tendons?.update(data);
  }

  /** First body that a ray meets, null for the world. */
  pick({ from, direction }: Ray): { body: number; point: THREE.Vector3 } | null {
    const caster = new THREE.Raycaster(from, direction);
    const meshes = this.geoms.map(({ mesh }) => mesh);
    const [hit] = caster.intersectObjects(meshes, false);
    const geom = this.geoms.find(({ mesh }) => mesh === hit?.object);
    const body = geom === undefined ? 0 : this.model.geom_bodyid[geom.id];
    return body > 0 ? { body, point: hit.point } : null;
  }

  /** Draw spheres, such as goals, at points of the world. */
  mark(points: ArrayLike<number>[]): void {
    while (this.marks.length < points.length) {
      const material = new THREE.MeshStandardMaterial({
        color: 0x2fb65a,
        transparent: true,
        opacity: 0.55,
      });
      const mesh = new THREE.Mesh(new THREE.SphereGeometry(0.03, 24, 16), material);
      this.marks.push(mesh);
      this.group.add(mesh);
    }
    this.marks.forEach((mesh, i) => {
      mesh.visible = i < points.length;
      if (mesh.visible) {
        mesh.position.set(points[i][0], points[i][1], points[i][2]);
      }
    });
  }

  /** Draw a push as an arrow, null for none. */
  push(push: { from: ArrayLike<number>; to: ArrayLike<number> } | null): void {
    this.arrow.visible = push !== null;
    if (push !== null) {
      const from = new THREE.Vector3(push.from[0], push.from[1], push.from[2]);
      const away = new THREE.Vector3(push.to[0], push.to[1], push.to[2]).sub(from);
      const length = Math.max(away.length(), 1e-3);
      this.arrow.position.copy(from);
      this.arrow.setDirection(away.divideScalar(length));
      this.arrow.setLength(length, Math.min(0.08, length), 0.05);
    }
  }

  release(): void {
    this.stage.scene.remove(this.group);
    this.group.traverse((each) => {
      const { geometry, material } = each as THREE.Mesh;
      geometry?.dispose();
      [material].flat().forEach((one) => one?.dispose());
    });
  }

  private geomMesh(id: number): THREE.Object3D | null {
    const { model } = this;
    const material = model.geom_matid[id];
    const rgba: Float32Array =
      material >= 0
        ? model.mat_rgba.subarray(4 * material, 4 * material + 4)
        : model.geom_rgba.subarray(4 * id, 4 * id + 4);
    if (model.geom_group[id] >= SHOWN_GROUPS || rgba[3] === 0) {
      return null;
    }
    const shape = this.shape(id);
    if (shape === null) {
      return null;
    }
    const isPlane = model.geom_type[id] === this.mujoco.mjtGeom.mjGEOM_PLANE.value;
    const look = new THREE.MeshStandardMaterial({
      color: new THREE.Color().setRGB(rgba[0], rgba[1], rgba[2], THREE.SRGBColorSpace),
      roughness: 0.65,
      transparent: rgba[3] < 1,
      opacity: rgba[3],
    });
    if (isPlane) {
      look.color.set(0xffffff);
      look.map = floorTexture();
      look.roughness = 0.9;
    }
    const mesh = new THREE.Mesh(shape, look);
    mesh.castShadow = !isPlane;
    mesh.receiveShadow = true;
    mesh.matrixAutoUpdate = false;
    return mesh;
  }

  private shape(id: number): THREE.BufferGeometry | null {
    const { model } = this;
    const types = this.mujoco.mjtGeom;
    const [a, b, c]: number[] = model.geom_size.subarray(3 * id, 3 * id + 3);
    switch (model.geom_type[id]) {
      case types.mjGEOM_PLANE.value:
        return floor(a, b);
      case types.mjGEOM_SPHERE.value:
        return new THREE.SphereGeometry(a, 24, 16);
      case types.mjGEOM_CAPSULE.value:
        return new THREE.CapsuleGeometry(a, 2 * b, 8, 20).rotateX(Math.PI / 2);
      case types.mjGEOM_ELLIPSOID.value:
        return new THREE.SphereGeometry(1, 24, 16).scale(a, b, c);
      case types.mjGEOM_CYLINDER.value:
        return new THREE.CylinderGeometry(a, a, 2 * b, 32).rotateX(Math.PI / 2);
      case types.mjGEOM_BOX.value:
        return new THREE.BoxGeometry(2 * a, 2 * b, 2 * c);
      case types.mjGEOM_MESH.value:
        return meshShape(model, model.geom_dataid[id]);
      case types.mjGEOM_HFIELD.value:
        return hillShape(model, model.geom_dataid[id]);
      default:
        return null;
    }
  }
}

/** Paths of tendons as tubes, coloured by the activation of their muscles. */
class Tendons {
  readonly tubes: THREE.InstancedMesh;
  private readonly muscles: number[];

  constructor(private readonly model: MjModel) {
    const shape = new THREE.CylinderGeometry(1, 1, 1, 8, 1, true);
    // Wrapping adds up to two points to each object of a path.
    const most = 2 * model.nwrap;
    const material = new THREE.MeshStandardMaterial({ roughness: 0.5 });
    this.tubes = new THREE.InstancedMesh(shape, material, most);
    this.tubes.setColorAt(0, RELAXED); // Allocates the colours.
    this.tubes.frustumCulled = false;
    this.muscles = muscleOfTendon(model);
  }

  update(data: MjData): void {
    const { model, tubes } = this;
    const [adr, num]: Int32Array[] = [data.ten_wrapadr, data.ten_wrapnum];
    const points: Float64Array = data.wrap_xpos;
    tubes.count = 0;
    for (let tendon = 0; tendon < model.ntendon; tendon++) {
      const muscle = this.muscles[tendon];
      const active = muscle >= 0 ? activation(model, data, muscle) : 0;
      const color = RELAXED.clone().lerp(ACTIVE, active);
      const radius = THREE.MathUtils.lerp(...TENDON_RADII, active);
      for (let i = adr[tendon]; i + 1 < adr[tendon] + num[tendon]; i++) {
        tubes.setMatrixAt(tubes.count, tube(points.subarray(3 * i, 3 * i + 6), radius));
        tubes.setColorAt(tubes.count, color);
        tubes.count += 1;
      }
    }
    tubes.instanceMatrix.needsUpdate = true;
    tubes.instanceColor!.needsUpdate = true;
  }
}

/** Pose and size of a cylinder of length 1 between two points. */
function tube(points: Float64Array, radius: number): THREE.Matrix4 {
  const [from, to] = [0, 3].map((i) => new THREE.Vector3(...points.subarray(i, i + 3)));
  const along = to.clone().sub(from);
  const length = Math.max(along.length(), 1e-6);
  const turn = new THREE.Quaternion().setFromUnitVectors(
    new THREE.Vector3(0, 1, 0),
    along.divideScalar(length),
  );
  const middle = from.lerp(to, 0.5);
  return new THREE.Matrix4().compose(
    middle,
    turn,
    new THREE.Vector3(radius, length, radius),
  );
}

/** Activation of a muscle: its state, or its control without activation dynamics. */
export function activation(model: MjModel, data: MjData, muscle: number): number {
  const address = model.actuator_actadr[muscle];
  return address >= 0 ? data.act[address] : data.ctrl[muscle];
}

/** Actuator of each tendon, -1 for none. */
function muscleOfTendon(model: MjModel): number[] {
  const found = new Array<number>(model.ntendon).fill(-1);
  const TENDON = 3; // mjTRN_TENDON
  for (let id = 0; id < model.nu; id++) {
    if (model.actuator_trntype[id] === TENDON) {
      found[model.actuator_trnid[2 * id]] = id;
    }
  }
  return found;
}

function meshShape(model: MjModel, id: number): THREE.BufferGeometry {
  const [vert, verts] = [model.mesh_vertadr[id], model.mesh_vertnum[id]];
  const [face, faces] = [model.mesh_faceadr[id], model.mesh_facenum[id]];
  const shape = new THREE.BufferGeometry();
  const points = model.mesh_vert.slice(3 * vert, 3 * (vert + verts));
  const corners = model.mesh_face.slice(3 * face, 3 * (face + faces));
  shape.setAttribute("position", new THREE.BufferAttribute(points, 3));
  shape.setIndex(new THREE.BufferAttribute(Uint32Array.from(corners), 1));
  // Separate corners give flat faces sharp edges.
  const flat = shape.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

function hillShape(model: MjModel, id: number): THREE.BufferGeometry {
  const [rows, columns] = [model.hfield_nrow[id], model.hfield_ncol[id]];
  const [x, y, top]: number[] = model.hfield_size.subarray(4 * id, 4 * id + 4);
  const shape = new THREE.PlaneGeometry(2 * x, 2 * y, columns - 1, rows - 1);
  const heights = shape.attributes.position;
  const start = model.hfield_adr[id];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      // Rows of a plane begin at the largest y, those of a height field at the smallest.
      const height = model.hfield_data[start + (rows - 1 - row) * columns + column];
      heights.setZ(row * columns + column, height * top);
    }
  }
  shape.computeVertexNormals();
  return shape;
}

/** Floor; a size of 0 is an infinite plane. Its texture repeats every metre. */
function floor(a: number, b: number): THREE.BufferGeometry {
  const [x, y] = [a || 100, b || 100];
  const shape = new THREE.PlaneGeometry(2 * x, 2 * y);
  const uv = shape.attributes.uv;
  for (let i = 0; i < uv.count; i++) {
    uv.setXY(i, (uv.getX(i) - 0.5) * 2 * x, (uv.getY(i) - 0.5) * 2 * y);
  }
  return shape;
}

/** Checkerboard with squares of half a metre. */
function floorTexture(): THREE.Texture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 256;
  const context = canvas.getContext("2d")!;
  context.fillStyle = "#c3ccd3";
  context.fillRect(0, 0, 256, 256);
  context.fillStyle = "#b4bec7";
  context.fillRect(0, 0, 128, 128);
  context.fillRect(128, 128, 128, 128);
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.anisotropy = 8;
  return texture;
}
