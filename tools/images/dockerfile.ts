/** The Dockerfile as its stages and instructions. */
import { readFileSync } from 'node:fs';

export interface Instruction {
  readonly name: string;
  readonly args: readonly string[];
  /** What follows the name, in one line. */
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  /** Another stage, or an image. */
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

export interface Copy {
  /** A stage; undefined: the build context. */
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
}

export const readStages = (path = 'Dockerfile'): Stage[] => {
  const text = readFileSync(path, 'utf8')
    .replace(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ');
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const stages: (Omit<Stage, 'instructions'> & { instructions: Instruction[] })[] = [];
  for (const line of lines) {
    const [name = '', ...args] = line.trim().split(/\s+/);
    if (name === 'FROM') stages.push({ from: args[0] ?? '', name: args[2] ?? '', instructions: [] });
    else stages.at(-1)?.instructions.push({ name, args, text: line.trim().slice(name.length).trim() });
  }
  return stages;
};

/** The stage and those that it is made from, the base first. */
export const lineageOf = (stage: Stage, stages: readonly Stage[]): Stage[] => {
  const base = stages.find(({ name }) => name === stage.from);
  return [...(base === undefined ? [] : lineageOf(base, stages)), stage];
};

export const copiesOf = ({ instructions }: Stage): Copy[] =>
  instructions
    .filter(({ name }) => name === 'COPY')
    .map(({ args }) => {
      const from = args.find((arg) => arg.startsWith('--from='))?.slice('--from='.length);
      const paths = args.filter((arg) => !arg.startsWith('--'));
      return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
    });

/** The words of the last ENTRYPOINT. */
export const entrypointOf = (lineage: readonly Stage[]): string[] => {
  const all = lineage.flatMap(({ instructions }) => instructions).filter(({ name }) => name === 'ENTRYPOINT');
  return JSON.parse(all.at(-1)?.args.join(' ') ?? '[]') as string[];
};

/** What `apt-get install` of these stages adds to the base. */
export const packagesOf = (lineage: readonly Stage[]): string[] =>
  lineage
    .flatMap(({ instructions }) => instructions)
    .filter(({ name }) => name === 'RUN')
    .flatMap(({ text }) => [...text.matchAll(/\bapt-get install ([^&]*)/g)])
    .flatMap(([, words = '']) => words.trim().split(/\s+/))
    .filter((word) => !word.startsWith('-'))
    .toSorted();

export const labelsOf = (lineage: readonly Stage[]): Record<string, string> =>
  Object.fromEntries(
    lineage
      .flatMap(({ instructions }) => instructions)
      .filter(({ name }) => name === 'LABEL')
      .flatMap(({ text }) => [...text.matchAll(/([^\s="]+)="([^"]*)"/g)])
      .map(([, key = '', value = '']) => [key, value]),
  );

/** Undefined: root. */
export const userOf = (lineage: readonly Stage[]): string | undefined =>
  lineage
    .flatMap(({ instructions }) => instructions)
    .filter(({ name }) => name === 'USER')
    .at(-1)?.text;

/** The stages that are images: the others only lead to them. */
export const imageStages = (stages: readonly Stage[]): Stage[] =>
  stages.filter((stage) => entrypointOf([stage]).length > 0);

/** The folder of the image that everything is in. */
export const ROOT = '/opt/ovn-udn';
