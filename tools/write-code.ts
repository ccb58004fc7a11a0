/** `write-code.ts BUNDLE`: runs `BUNDLE --version`, and writes the code that V8 has compiled for it to where its launcher reads it. */
import { writeFileSync } from 'node:fs';
import { codeFile, codeOf, compile, run } from '../program/compiled.ts';

const [bundle = ''] = process.argv.splice(2, 1, '--version');
const compiled = compile(bundle, undefined);
process.once('exit', () => writeFileSync(codeFile(bundle), codeOf(compiled)));
run(compiled);
