/** Small plots of the last seconds. */

const SECONDS = 10;

/** Lines over time, such as a command and the measured velocity. */
export class Plot {
  private readonly rows: { time: number; values: number[] }[] = [];

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly colors: string[],
    private readonly low: number,
    private readonly high: number,
  ) {}

  add(time: number, values: number[]): void {
    const last = this.rows.at(-1);
    if (last !== undefined && time < last.time) {
      this.rows.length = 0;
    }
    this.rows.push({ time, values });
    while (this.rows[0].time < time - SECONDS) {
      this.rows.shift();
    }
  }

  draw(): void {
    const { canvas, rows, low, high } = this;
    const ratio = Math.min(window.devicePixelRatio, 2);
    const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
    if (canvas.width !== width || canvas.height !== height) {
      [canvas.width, canvas.height] = [width, height];
    }
    const context = canvas.getContext("2d")!;
    context.clearRect(0, 0, width, height);
    const end = rows.at(-1)?.time ?? 0;
    const x = (time: number) => width * (1 - (end - time) / SECONDS);
    const y = (value: number) => {
      const inside = Math.min(Math.max(value, low), high);
      return ratio + (height - 2 * ratio) * (1 - (inside - low) / (high - low));
    };
    context.strokeStyle = "#8884";
    context.lineWidth = ratio;
    line([[0, y(0)], [width, y(0)]]);
    this.colors.forEach((color, index) => {
      context.strokeStyle = color;
      context.lineWidth = 1.5 * ratio;
      line(rows.map(({ time, values }) => [x(time), y(values[index])]));
    });

    function line(points: number[][]): void {
      context.beginPath();
      points.forEach(([px, py]) => context.lineTo(px, py));
      context.stroke();
    }
  }
}
