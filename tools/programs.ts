/** The programs of this repository: `dist/<name>.mjs` is bundled from `entry`. */
export interface Program {
  readonly name: string;
  readonly entry: string;
}

export const PROGRAMS: readonly Program[] = [];
