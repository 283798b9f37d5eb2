/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * C++ as it is written: hot code that is nearly all inlined, out of many small functions of the
 * standard library. For reports that tell inlined functions apart.
 *
 * usage: inlines SECONDS      of CPU time
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

struct node {
	std::string name;
	std::vector<std::shared_ptr<node>> children;
};

static std::shared_ptr<node> build(int depth, unsigned int &seed)
{
	auto made = std::make_shared<node>();

	seed = seed * 1103515245 + 12345;
	made->name = "n" + std::to_string(seed % 100000);
	for (int i = 0; depth && i < 3; i++)
		made->children.push_back(build(depth - 1, seed));
	return made;
}

static double visit(const node &at, const std::function<double(const node &)> &weigh)
{
	double sum = weigh(at);

	for (const auto &child : at.children)
		sum += visit(*child, weigh);
	return sum;
}

static size_t count_words(const std::string &text)
{
	std::unordered_map<std::string, int> counts;
	std::istringstream in(text);
	std::string word;

	while (in >> word)
		counts[word]++;
	std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
	std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
		return a.second != b.second ? a.second > b.second : a.first < b.first;
	});
	return sorted.size();
}

static size_t count_matches(const std::string &text)
{
	static const std::regex pattern("n([0-9]+)[13579]");
	size_t count = 0;

	for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end;
	     ++match)
		count += (*match)[1].length();
	return count;
}

static double sum_of_map()
{
	std::map<int, std::string> names;

	for (int i = 0; i < 3000; i++)
		names[i * 7919 % 3001] = std::to_string(i);
	return std::accumulate(names.begin(), names.end(), 0.0, [](double sum, const auto &entry) {
		return sum + (double)entry.second.size();
	});
}

int main(int argc, char **argv)
{
	double end = argc > 1 ? atof(argv[1]) : 1, sum = 0;
	unsigned int seed = 1;

	while ((double)clock() / CLOCKS_PER_SEC < end) {
		std::string text;

		sum += visit(*build(7, seed), [&](const node &at) {
			text += at.name + ' ';
			return std::sqrt((double)at.name.size());
		});
		sum += (double)(count_words(text) + count_matches(text)) + sum_of_map();
	}
	printf("%f\n", sum);
	return 0;
}
