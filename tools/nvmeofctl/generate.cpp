// SPDX-License-Identifier: LGPL-2.1-or-later
#include "generate.h"

#include <optional>
#include <ostream>

#include "context.h"
#include "settings_table.h"

std::vector<const Command *> shownCommands()
{
	std::vector<const Command *> shown = everyCommand();
	std::erase_if(shown, [](const Command *command) { return command->hidden; });
	return shown;
}

std::vector<const Option *> positionalsOf(const Command &command)
{
	std::vector<const Option *> found;
	for (const Option &option : optionsOf(command))
		if (option.positional())
			found.push_back(&option);
	return found;
}

std::vector<std::string> settingWords()
{
	std::vector<std::string> words;
	for (auto texts : {subsystemSettingTexts, controllerSettingTexts})
		for (const SettingText &setting : texts())
			words.push_back(std::string(setting.name) + "=");
	return words;
}

static int generateManPage(Context &context)
{
	const std::optional<std::string> name = context.args().text("COMMAND");
	const Command *command = name ? findCommand(commands(), *name) : nullptr;
	if (name && (!command || command->hidden))
		return context.fail("", usageError("there is no command '" + *name + "'"));
	context.out() << (command ? manPage(*command) : manPage());
	return 0;
}

int runGenerate(Context &context)
{
	const std::string what = context.args().textOr("WHAT", "");
	if (what == "man")
		return generateManPage(context);
	if (context.args().has("COMMAND"))
		return context.fail("", usageError("COMMAND needs 'man'"));
	if (what == "bash")
		context.out() << bashCompletion();
	else if (what == "zsh")
		context.out() << zshCompletion();
	else if (what == "fish")
		context.out() << fishCompletion();
	else
		for (const std::string &name : namesOf(commands()))
			context.out() << name << "\n";
	return 0;
}
