/**
 * Flags in front of the command: `kubectl udn --context test networks`. kubectl takes its own there, so people write them
 * there. They are handed to the command, where it has them and says nothing else.
 */
import { type Command, Option } from 'commander';
import { CliError } from '../errors.ts';
import { withServer } from './server-options.ts';

export const withGlobalFlags = (program: Command): Command => {
  program.enablePositionalOptions();
  withServer(program).addOption(new Option('-n, --namespace <namespace>', 'namespace of the object'));
  for (const option of program.options) if (option.attributeName() !== 'version') option.hideHelp();
  return program.hook('preAction', (_, command) => {
    for (const option of program.options) {
      const name = option.attributeName();
      if (program.getOptionValueSource(name) !== 'cli') continue;
      if (!command.options.some(({ long }) => long === option.long)) {
        throw new CliError(`${option.long} does not apply to ${command.name()}`, 2);
      }
      if (command.getOptionValueSource(name) === 'cli') continue;
      command.setOptionValueWithSource(name, program.getOptionValue(name), 'cli');
    }
  });
};
