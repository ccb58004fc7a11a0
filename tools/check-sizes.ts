/** Fails when a file is longer than `size-rules.ts` allows. */
import { globSync, readFileSync } from 'node:fs';
import { type FileSize, headOf, lineCount, sizeViolations } from './size-rules.ts';

const IGNORED = ['node_modules', 'dist', 'build'];
/** What is written by hand. */
const PATTERNS = ['*/**/*.{ts,c,go,sh}', '*.ts'];

const files = globSync(PATTERNS, { exclude: (name) => IGNORED.includes(name) })
  .filter((path) => !IGNORED.some((folder) => path.startsWith(`${folder}/`)))
  .map((path): FileSize => {
    const text = readFileSync(path, 'utf8');
    return { path, lines: lineCount(text), head: headOf(text) };
  });
const found = sizeViolations(files);
for (const message of found) console.error(message);
console.log(`${files.length} files, ${found.length} against the rules`);
process.exitCode = found.length === 0 ? 0 : 1;
