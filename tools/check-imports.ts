/** Fails when an import, of a value or of a type, breaks the layers of `import-rules.ts`. */
import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import { type Import, importsOf, violations } from './import-rules.ts';

const IGNORED = ['node_modules', 'dist', 'build'];

const main = (): void => {
  const files = globSync('*/**/*.ts', { exclude: (name) => IGNORED.includes(name) }).filter(
    (file) => !IGNORED.some((folder) => file.startsWith(`${folder}/`)),
  );
  const imports = files.flatMap(importsOfFile);
  const found = violations(imports);
  for (const message of found) console.error(message);
  console.log(`${files.length} files, ${imports.length} imports, ${found.length} against the rules`);
  process.exitCode = found.length === 0 ? 0 : 1;
};

const importsOfFile = (file: string): Import[] =>
  importsOf(readFileSync(file, 'utf8')).map((specifier) =>
    specifier.startsWith('.')
      ? { from: file, to: posix.normalize(posix.join(posix.dirname(file), specifier)), isPackage: false }
      : { from: file, to: isBuiltin(specifier) ? builtinName(specifier) : packageName(specifier), isPackage: true },
  );

const isBuiltin = (path: string): boolean => path.startsWith('node:') || builtinModules.includes(path);

const builtinName = (path: string): string => (path.startsWith('node:') ? path : `node:${path}`);

const packageName = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');

main();
