// SPDX-License-Identifier: LGPL-2.1-or-later
#include "generate.h"

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

int runGenerate(Context &context)
{
	struct Kind {
		const char *name;
		std::string (*text)();
	};
	for (const Kind &kind : {Kind{"bash", bashCompletion}, Kind{"zsh", zshCompletion}, Kind{"fish", fishCompletion},
				 Kind{"man", manPage}})
		if (context.args().textOr("WHAT", "") == kind.name)
			context.out() << kind.text();
	return 0;
}
