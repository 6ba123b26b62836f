import { Command } from 'commander';
import { addCallCommand } from './call.ts';
import { addDoctorCommand } from './doctor.ts';
import { addJobCommands } from './jobs.ts';
import { addSendCommand } from './send.ts';

const program = new Command('relay')
  .description('Partner Relay from the command line')
  .showHelpAfterError('(relay --help shows what there is)');
addCallCommand(program);
addSendCommand(program);
addJobCommands(program);
addDoctorCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  // The message is for the person who typed; it is made so that it carries no secret.
  console.error(`relay: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
